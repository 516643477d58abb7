import type { FleetSummary } from '../../crds/schema/fleet-run.ts';
import type { FleetPolicy } from './policy.ts';

/** spec 2 §3: every resolved host ends in exactly one of them. */
export const nodeOutcomes = ['ok', 'err', 'timed_out', 'cancelled', 'not_started'] as const;
export type NodeOutcome = (typeof nodeOutcomes)[number];

/** Settings of one run; fixed when it starts. */
export interface FleetPlan {
  /** Ids of the resolved hosts, each once, in the order in which they get the command. */
  readonly nodes: readonly string[];
  readonly policy: Pick<FleetPolicy, 'mode' | 'max_concurrency' | 'failure_policy' | 'per_target_deadline_secs'>;
  /** Another process has worked on the run before: it may have sent commands that no fact tells of. */
  readonly isResumed?: boolean;
}

/** Facts of the run. They come in the order in which they were stored; times are in milliseconds of one clock, that of `next`. */
export type FleetFact =
  /** The command waits for its turn, or for its host: the host's deadline does not run yet. */
  | { readonly kind: 'launching'; readonly node: string }
  /** The command was handed over, or may have been; the last of several counts. */
  | { readonly kind: 'sent'; readonly node: string; readonly at: number }
  /** The first result of a host counts, later ones change nothing. */
  | { readonly kind: 'result'; readonly node: string; readonly outcome: NodeOutcome }
  /** `afterResults`: how many hosts had an outcome when it was taken up; absent: as many as the facts before it tell of. */
  | { readonly kind: 'cancel'; readonly afterResults?: number }
  /** The cancellation was handed over. */
  | { readonly kind: 'cancel_sent'; readonly node: string; readonly at: number }
  /** It is known of each host that a process before this one may have sent a command to whether it has. */
  | { readonly kind: 'probed' };

export interface FleetEnd {
  readonly outcome: 'complete' | 'halted' | 'cancelled';
  readonly summary: FleetSummary;
}

/** The next effects. Asking again without a new fact gives the same. */
export interface FleetDecision {
  /** Hosts to send the command to, in this order; each is reported as `launching` at once. */
  readonly commands: readonly string[];
  /** Hosts that a process before this one may have sent the command to: find out, and send nothing. */
  readonly probes: readonly string[];
  /** Hosts whose command is to be cancelled: until `cancel_sent`, or a result, tells of each. */
  readonly cancels: readonly string[];
  /** Hosts that gave no result in time. */
  readonly expired: readonly { readonly node: string; readonly outcome: 'timed_out' | 'cancelled' }[];
  readonly end?: FleetEnd;
  /** When to ask again if nothing happens. */
  readonly lookAt?: number;
}

export const fleetTimes = {
  /** A host counts the deadline itself; its result has this long to arrive after it. */
  resultGraceMs: 10_000,
  /** A host that has the cancellation answers within this time, or counts as cancelled. */
  cancelGraceMs: 15_000,
} as const;

/** The decision that follows from these facts, and from nothing else (design §14). */
export function next(plan: FleetPlan, facts: Iterable<FleetFact>, now: number): FleetDecision {
  const progress = createProgress(plan);
  for (const fact of facts) progress.record(fact);
  return progress.next(now);
}

/** The same as `next`, kept between facts: each costs the same however many hosts there are. */
export interface FleetProgress {
  record(fact: FleetFact): void;
  next(now: number): FleetDecision;
  outcomeOf(node: string): NodeOutcome | undefined;
  /** Where the host is among those of the plan; undefined for one of another run. */
  placeOf(node: string): number | undefined;
  readonly inFlight: number;
  /** Hosts in flight whose command waits to leave, or has left. */
  open(): string[];
  /** Hosts with an outcome. */
  readonly terminal: number;
  /** Nothing more is started. */
  readonly isStopped: boolean;
  /** It has stopped, and hosts in flight are not let finish. */
  readonly cancelsInFlight: boolean;
  /** Every host has an outcome. */
  readonly isFinished: boolean;
  readonly summary: FleetSummary;
}

export const createProgress = (plan: FleetPlan): FleetProgress => new Progress(plan);

const failures: ReadonlySet<NodeOutcome> = new Set(['err', 'timed_out']);

/** requirements AMB-104: how many failures halt the run. */
function failuresAllowed({ failure_policy: policy }: FleetPlan['policy']): number {
  if (policy === 'FailFast') return 1;
  return policy === 'ContinueOnError' ? Number.POSITIVE_INFINITY : policy.StopAfter;
}

class Progress implements FleetProgress {
  readonly #plan: FleetPlan;
  readonly #places: ReadonlyMap<string, number>;
  readonly #outcomes = new Map<string, NodeOutcome>();
  readonly #counts: FleetSummary = { ok: 0, err: 0, timed_out: 0, cancelled: 0, not_started: 0 };
  /** Hosts below it have been sent the command, as far as facts tell or imply. */
  #cursor = 0;
  /** Hosts in flight whose command has not left yet. */
  readonly #launching = new Set<string>();
  /** When each of the other hosts in flight was sent its command, the earliest first. */
  readonly #sent = new Map<string, number>();
  /** Hosts before one with a fact that no fact tells of: commands leave in order, so theirs have left before. */
  readonly #implied = new Set<string>();
  readonly #toCancel = new Set<string>();
  readonly #cancelSent = new Map<string, number>();
  /** How many hosts had an outcome when each came; undefined: it has not come. */
  #cancelledAfter: number | undefined;
  #haltedAfter: number | undefined;
  #isUncertain: boolean;

  constructor(plan: FleetPlan) {
    this.#plan = plan;
    this.#places = new Map(plan.nodes.map((node, index) => [node, index]));
    this.#isUncertain = plan.isResumed === true;
  }

  get inFlight(): number {
    return this.#cursor - this.#outcomes.size;
  }

  open(): string[] {
    return [...this.#launching, ...this.#sent.keys()];
  }

  get terminal(): number {
    return this.#outcomes.size;
  }

  get isStopped(): boolean {
    return this.#haltedAfter !== undefined || this.#cancelledAfter !== undefined;
  }

  get isFinished(): boolean {
    return this.#outcomes.size === this.#plan.nodes.length;
  }

  get summary(): FleetSummary {
    return { ...this.#counts };
  }

  outcomeOf(node: string): NodeOutcome | undefined {
    return this.#outcomes.get(node);
  }

  placeOf(node: string): number | undefined {
    return this.#places.get(node);
  }

  record(fact: FleetFact): void {
    switch (fact.kind) {
      case 'launching':
        return this.#recordLaunch(fact.node);
      case 'sent':
        return this.#recordSent(fact.node, fact.at);
      case 'result':
        return this.#recordResult(fact.node, fact.outcome);
      case 'cancel':
        this.#cancelledAfter ??= fact.afterResults ?? this.terminal;
        return this.#cancelAll();
      case 'cancel_sent':
        if (this.#toCancel.delete(fact.node)) this.#cancelSent.set(fact.node, fact.at);
        return undefined;
      case 'probed':
        this.#isUncertain = false;
    }
  }

  #recordLaunch(node: string): void {
    if (!this.#reach(node) || this.#outcomes.has(node) || this.#sent.has(node)) return;
    this.#implied.delete(node);
    this.#launching.add(node);
    this.#noteToCancel(node);
  }

  #recordSent(node: string, at: number): void {
    if (!this.#reach(node) || this.#outcomes.has(node)) return;
    for (const before of [this.#implied, this.#launching, this.#sent]) before.delete(node);
    this.#sent.set(node, at);
    this.#noteToCancel(node);
  }

  #recordResult(node: string, outcome: NodeOutcome): void {
    if (!this.#reach(node) || this.#outcomes.has(node)) return;
    this.#outcomes.set(node, outcome);
    this.#counts[outcome] += 1;
    for (const open of [this.#launching, this.#sent, this.#implied, this.#toCancel, this.#cancelSent])
      open.delete(node);
    const failed = this.#counts.err + this.#counts.timed_out;
    if (!failures.has(outcome) || failed < failuresAllowed(this.#plan.policy)) return;
    this.#haltedAfter ??= this.terminal;
    this.#cancelAll();
  }

  /** Takes in that the command of a host has left. False for a host of another run. */
  #reach(node: string): boolean {
    const place = this.#places.get(node);
    if (place === undefined) return false;
    for (; this.#cursor <= place; this.#cursor += 1) this.#implied.add(this.#plan.nodes[this.#cursor] ?? node);
    return true;
  }

  get cancelsInFlight(): boolean {
    const isHalted = this.#haltedAfter !== undefined;
    return this.#cancelledAfter !== undefined || (isHalted && this.#plan.policy.failure_policy === 'FailFast');
  }

  #cancelAll(): void {
    for (const node of this.#launching) this.#noteToCancel(node);
    for (const node of this.#sent.keys()) this.#noteToCancel(node);
  }

  #noteToCancel(node: string): void {
    if (this.cancelsInFlight && !this.#cancelSent.has(node)) this.#toCancel.add(node);
  }

  next(now: number): FleetDecision {
    const ahead = this.#ahead();
    const unsure = this.isStopped ? [...this.#implied, ...(this.#isUncertain ? ahead : [])] : [];
    const commands = this.isStopped ? [] : [...this.#implied, ...ahead];
    const end = unsure.length === 0 && commands.length === 0 && this.inFlight === 0 ? this.#end() : undefined;
    const lookAt = this.#lookAt();
    return {
      commands,
      probes: unsure,
      cancels: [...this.#toCancel],
      expired: this.#expired(now),
      ...(end === undefined ? {} : { end }),
      ...(lookAt === undefined ? {} : { lookAt }),
    };
  }

  /** The hosts whose turn it is. */
  #ahead(): readonly string[] {
    const { nodes, policy } = this.#plan;
    const free = Math.max(0, Math.min(this.#room(), policy.max_concurrency - this.inFlight));
    return nodes.slice(this.#cursor, this.#cursor + free);
  }

  /** Number of hosts that the mode leaves room for. A batch begins when the one before it has ended. */
  #room(): number {
    const { mode } = this.#plan.policy;
    if (mode === 'Sequential') return 1 - this.inFlight;
    if (mode === 'Parallel') return Number.POSITIVE_INFINITY;
    const { batch } = mode.Rolling;
    const begun = this.#cursor % batch;
    if (begun === 0 && this.inFlight > 0) return 0;
    return batch - begun;
  }

  #expired(now: number): FleetDecision['expired'] {
    const { times, patienceMs, outcome } = this.#waiting;
    const expired: { node: string; outcome: 'timed_out' | 'cancelled' }[] = [];
    for (const [node, at] of times) {
      if (at + patienceMs > now) break;
      expired.push({ node, outcome });
    }
    return expired;
  }

  #lookAt(): number | undefined {
    const { times, patienceMs } = this.#waiting;
    const [first] = times.values();
    return first === undefined ? undefined : first + patienceMs;
  }

  /**
   * How long the hosts in flight have. A run that cancels them no longer counts their deadlines: each ends `cancelled` unless its
   * own result comes first (ADR 0101). One that no cancellation reaches waits for the sender to give up.
   */
  get #waiting() {
    if (this.cancelsInFlight)
      return { times: this.#cancelSent, patienceMs: fleetTimes.cancelGraceMs, outcome: 'cancelled' } as const;
    const patienceMs = this.#plan.policy.per_target_deadline_secs * 1_000 + fleetTimes.resultGraceMs;
    return { times: this.#sent, patienceMs, outcome: 'timed_out' } as const;
  }

  /** A run that was halted stays so when it is cancelled afterwards (spec 2 §3: a cancellation is of a run that runs). */
  #outcome(): FleetEnd['outcome'] {
    const { cancelled, halted } = { cancelled: this.#cancelledAfter, halted: this.#haltedAfter };
    if (halted !== undefined && halted <= (cancelled ?? halted)) return 'halted';
    return cancelled === undefined ? 'complete' : 'cancelled';
  }

  #end(): FleetEnd {
    const open = this.#plan.nodes.length - this.#outcomes.size;
    const summary = { ...this.#counts, not_started: this.#counts.not_started + open };
    return { outcome: this.#outcome(), summary };
  }
}
