import type { FleetRun, FleetRunStatus } from '../../../crds/schema/fleet-run.ts';
import { commandIdOf, type EdgeNews } from '../../../lib/edge/index.ts';
import type { FairPool } from '../../../lib/fair-pool.ts';
import { type NodeRecord, nodeRecord } from '../../../lib/fleet/node-record.ts';
import { createProgress, type FleetProgress } from '../../../lib/fleet/plan.ts';
import { completePolicy, type FleetPolicy } from '../../../lib/fleet/policy.ts';
import type { FrozenTarget, FrozenTargets, HostOutcome } from '../../../lib/fleet/run-record.ts';
import { slimFleetRun } from '../../../lib/fleet/slim-fleet-run.ts';
import type { FleetCommand } from '../commands/command.ts';
import type { KeepArgs, UseArgs } from '../commands/run-arguments.ts';
import { fleetRunLimits } from '../limits.ts';
import { type OpenOutcomes, openOutcomesText, readOpenOutcomes } from '../record/open-outcomes.ts';
import { UnstoredRecords } from '../record/unstored-records.ts';
import { CommandNotes } from './command-notes.ts';
import { claimsToLookFor, EarlierClaims } from './earlier-claims.ts';
import { type FollowNewsDeps, NewsFollower } from './follow-news.ts';
import { OutputTails } from './output-tails.ts';
import { SaidResults } from './said-results.ts';
import { StopSignals } from './stop-signals.ts';

interface ViewDeps extends FollowNewsDeps {
  /** Bytes of output that all runs keep. */
  readonly outputs: FairPool;
  /** The way to the arguments of the run. */
  readonly keepArgs: KeepArgs;
}

export interface ViewFacts {
  /** In full. */
  readonly run: FleetRun;
  readonly tenant: string;
  readonly targets: FrozenTargets;
  /** Outcomes that are stored already, in the order in which they came. */
  readonly records: readonly HostOutcome[];
  /** Whether this process fixed the targets itself and nothing was sent yet. */
  readonly isNew: boolean;
}

type Result = Extract<EdgeNews, { readonly kind: 'result' }>;
type Cancellation = NonNullable<FleetRunStatus['cancellation']>;

/** Outcomes that a status tells of are taken in once. */
function withoutRecord({ status, ...run }: FleetRun): FleetRun {
  if (status === undefined) return run;
  const { per_node_ref: _parts, open_outcomes: _open, conditions: _conditions, ...rest } = status;
  return { ...run, status: rest };
}

/**
 * This process's view of a run under way. All of it can be read again from the log, the claims and the store. Facts of the plan enter
 * by its methods alone; `commands`, `said` and `unstored` change by their own.
 */
export class RunView {
  readonly uid: string;
  readonly tenant: string;
  /** Without its arguments. */
  readonly run: FleetRun;
  readonly policy: FleetPolicy;
  /** A process before this one may have sent commands. */
  readonly isResumed: boolean;
  /** How the run ends without a log of its results, once that is decided: the end is written later where its record is refused. */
  endWithoutLog: 'cancelled' | 'halted' | undefined;
  readonly commands = new CommandNotes();
  readonly said = new SaidResults();
  readonly unstored: UnstoredRecords;
  /** Undefined where no process drove the run before this one. */
  readonly earlierClaims: EarlierClaims | undefined;
  readonly #deps: ViewDeps;
  readonly #progress: FleetProgress;
  readonly #over = new AbortController();
  readonly #waits = new StopSignals();
  readonly #news: NewsFollower;
  /** In the order of the plan. */
  readonly #targets: readonly FrozenTarget[];
  readonly #useArgs: UseArgs;
  readonly #tails: OutputTails;
  /** Hosts whose outcome the status alone tells: the log may have the details. */
  readonly #bare: Set<string>;
  #isProbed: boolean;
  #cancellation: Cancellation | undefined;
  /** Hosts that had their outcomes when a cancellation was taken up which is not counted yet. */
  #endedBefore: number | undefined;
  #isDeleted = false;
  #isMissed = false;
  #isAbandoned = false;
  #isHeldBack = false;
  #statusAt = -Infinity;

  constructor(deps: ViewDeps, { run, tenant, targets, records, isNew }: ViewFacts) {
    this.#deps = deps;
    this.uid = run.metadata.uid ?? '';
    this.tenant = tenant;
    // Its arguments and a large target would stay as long as the view does.
    this.run = withoutRecord(slimFleetRun(run));
    this.policy = completePolicy(run.spec.policy);
    this.isResumed = !isNew;
    this.#isProbed = isNew;
    this.#targets = targets.resolved;
    this.#useArgs = deps.keepArgs(run, tenant);
    this.#progress = createProgress({
      nodes: targets.resolved.map(({ node_id: id }) => id),
      policy: this.policy,
      isResumed: this.isResumed,
    });
    this.unstored = new UnstoredRecords(records.length);
    this.#tails = new OutputTails(deps.outputs, tenant);
    this.#news = new NewsFollower(deps, {
      tenant,
      run: this.uid,
      signal: this.signal,
      takeIn: (news, isNew) => this.#takeIn(news, isNew),
      onCaughtUp: () => this.#noteCaughtUp(),
    });
    const { open_outcomes: text } = run.status ?? {};
    const bare = readOpenOutcomes(text, { uid: this.uid, targets: this.#targets, deadlineMs: this.#deadlineMs });
    const known = [...records, ...bare];
    for (const { node_id: node, outcome } of known) this.#progress.record({ kind: 'result', node, outcome });
    for (const record of bare) this.unstored.add(record, deps.clock.steadyMs());
    this.#bare = new Set(bare.map(({ node_id: node }) => node));
    if (this.isResumed) this.earlierClaims = this.#claimsBefore(known);
  }

  #claimsBefore(records: readonly HostOutcome[]): EarlierClaims {
    const begun = records.length + (this.run.status?.in_flight ?? 0);
    const nodes = this.#targets.slice(0, begun).map(({ node_id: node }) => node);
    // The process before this one has claimed those that were in flight.
    for (const node of nodes) if (!this.isSettled(node)) this.commands.noteClaimed(node);
    return new EarlierClaims({
      looks: claimsToLookFor(records, nodes),
      placeOf: (node) => this.#progress.placeOf(node),
      begun,
      maxConcurrency: this.policy.max_concurrency,
      sentSince: this.sentSince,
      deadlineMs: this.#deadlineMs,
    });
  }

  /** When the first of the commands in flight left, by this process or an earlier one; undefined where none has. */
  get sentSince(): number | undefined {
    const { sent_since: before } = this.run.status ?? {};
    return before === undefined ? this.commands.sentSince : Date.parse(before);
  }

  get #deadlineMs(): number {
    return this.policy.per_target_deadline_secs * 1_000;
  }

  /** The status keeps this beside the record once so many of the oldest outcomes that wait are in a part of it. */
  openOutcomes(stored: number): OpenOutcomes {
    return openOutcomesText(this.unstored.all.slice(stored), (node) => this.#progress.placeOf(node));
  }

  /** Aborts when the view is closed: this process decides nothing more of the run. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Decides nothing more at once; what waits for hosts ends in turns of the event loop. */
  close(): void {
    this.#over.abort();
    this.#tails.close();
    void this.#waits.end();
  }

  /** A signal that ends the waits of one command, soon after the view is closed. */
  nextWait(): AbortSignal {
    return this.#waits.next();
  }

  /** How far the run is. */
  get progress(): Omit<FleetProgress, 'record'> {
    return this.#progress;
  }

  /** Commands that it may send yet, and that no account has: a claim counts there. */
  get unsent(): number {
    const { isStopped, terminal } = this.#progress;
    return isStopped ? 0 : this.#targets.length - terminal - this.commands.claimed;
  }

  /** Whether all that the log held when the view was opened has been taken in. */
  get isCaughtUp(): boolean {
    return this.#news.isCaughtUp;
  }

  /** Since when there is no log of its results, and NATS has no room for one. */
  get fullSince(): number | undefined {
    return this.#news.fullSince;
  }

  /** Whether NATS has no room for a claim of a command, or for a result that was said in place of a host. */
  get isBusFull(): boolean {
    return this.commands.isFull || this.said.isFull;
  }

  /** Hosts that a process before this one has sent the command to, as far as it has written that, and that have no outcome. */
  get openBefore(): readonly string[] {
    const { summary, in_flight: open = 0 } = this.run.status ?? {};
    const { ok = 0, err = 0, timed_out: late = 0, cancelled = 0 } = summary ?? {};
    const begun = this.#targets.slice(0, ok + err + late + cancelled + open).map(({ node_id: node }) => node);
    return begun.filter((node) => this.#progress.outcomeOf(node) === undefined);
  }

  /** One of the fixed targets. */
  target(node: string): FrozenTarget {
    return this.#targets[this.#progress.placeOf(node) ?? -1] ?? { node_id: node, host_uid: '', name: node };
  }

  /** The command of the run for one of its hosts. */
  commandOf(node: string): FleetCommand {
    const { spec } = this.run;
    return {
      commandId: commandIdOf(this.uid, node),
      run: this.uid,
      tenant: this.tenant,
      target: this.target(node),
      tool: spec.tool,
      useArgs: this.#useArgs,
      securityContext: spec.security_context ?? 'default',
      deadlineSecs: this.policy.per_target_deadline_secs,
      author: spec.requested_by,
    };
  }

  /** Hosts whose output was cut, as the runs of the tenant had no more room in memory. */
  get cutHosts(): number {
    return this.#tails.cutHosts;
  }

  /** The oldest of the outcomes that wait are in the store. */
  noteStored(count: number): void {
    this.#tails.release(this.unstored.noteStored(count));
  }

  /** Whether a host has its outcome, or one that was said for it is on its way. */
  isSettled(node: string): boolean {
    return this.#progress.outcomeOf(node) !== undefined || this.said.has(node);
  }

  /** The command waits for its turn, or for its host. */
  noteLaunching(node: string): void {
    this.#progress.record({ kind: 'launching', node });
  }

  /**
   * Holds the run back where so many commands wait to leave that no other one may yet, and wakes it when one may. It is held
   * back as well where so many outcomes cannot be stored that they fill its room.
   */
  holdBack(): boolean {
    this.#isHeldBack = this.commands.launches >= fleetRunLimits.launchesPerRun;
    return this.#isHeldBack || this.unstored.isFull;
  }

  /** A command has left, or will not. */
  noteLaunched(): void {
    if (!this.#isHeldBack || this.commands.launches > fleetRunLimits.launchesPerRun / 2) return;
    this.#isHeldBack = false;
    this.#deps.wake();
  }

  /** It has left, or may have: the host has its whole deadline from now on. */
  noteSent(node: string): void {
    this.#progress.record({ kind: 'sent', node, at: this.#deps.clock.steadyMs() });
  }

  /** Known never to have left. */
  noteNotStarted(node: string): void {
    this.#progress.record({ kind: 'result', node, outcome: 'not_started' });
  }

  noteCancelSent(node: string): void {
    this.#progress.record({ kind: 'cancel_sent', node, at: this.#deps.clock.steadyMs() });
  }

  /** It is known of each doubtful host whether it was sent its command. */
  noteProbed(): void {
    if (this.#isProbed) return;
    this.#isProbed = true;
    this.#progress.record({ kind: 'probed' });
  }

  /**
   * Takes a cancellation up (requirements AMB-109), once: `written` is the count of a process before. One that comes when every host
   * has its outcome changes nothing.
   */
  takeUpCancel(written: Cancellation | undefined): void {
    if (this.#cancellation !== undefined) return;
    const { inFlight: cancelled, terminal, isFinished } = this.#progress;
    if (written === undefined && isFinished) return;
    this.#cancellation = written ?? { cancelled, already_terminal: terminal };
    if (written === undefined && !this.#isProbed) this.#endedBefore = this.#ended;
    // A process before this one met it when all had ended.
    if (this.#cancellation.already_terminal === this.#targets.length) return;
    // The facts of a run that another process continues come anew; the count says which of them came before.
    this.#progress.record({ kind: 'cancel', afterResults: this.#cancellation.already_terminal });
  }

  /**
   * The counts of the cancellation. They are undefined where none was taken up. They are also undefined while a process
   * that takes a run over still finds out which commands had left.
   */
  get cancellation(): Cancellation | undefined {
    if (this.#endedBefore === undefined || this.#cancellation === undefined) return this.#cancellation;
    if (!this.#isProbed) return undefined;
    const cancelled = this.#progress.inFlight + this.#ended - this.#endedBefore;
    this.#cancellation = { ...this.#cancellation, cancelled };
    this.#endedBefore = undefined;
    return this.#cancellation;
  }

  /** Hosts whose command has left, and that have their outcome. */
  get #ended(): number {
    return this.#progress.terminal - this.#progress.summary.not_started;
  }

  /** The commands of a run that was deleted are not wanted any more. Twice is as once. */
  cancelAsDeleted(): void {
    this.#isDeleted = true;
    this.#progress.record({ kind: 'cancel' });
  }

  /** For hosts: why their commands are cancelled. */
  get cancelReason(): string {
    if (this.#isDeleted) return 'the run was deleted';
    return this.#cancellation === undefined ? 'the run was halted by its failure policy' : 'the run was cancelled';
  }

  /** Whether the run's object is gone, and its commands are being ended. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** The cache lacks the run. False where that is being looked into. */
  beginMissed(): boolean {
    const isNew = !this.#isMissed;
    this.#isMissed = true;
    return isNew;
  }

  /** The API server lacks it too: its commands are not wanted any more. */
  noteGone(): void {
    this.#isAbandoned = true;
    this.cancelAsDeleted();
  }

  /** The run is there after all, or its view is closed: a run that came back may have waited for that. */
  endMissed(): void {
    this.#isMissed = false;
    this.#isAbandoned = false;
    this.#deps.wake();
  }

  /** When the next status may be written, in time that never steps. */
  get statusDueAt(): number {
    return this.#statusAt + fleetRunLimits.statusMs;
  }

  noteStatus(now: number): void {
    this.#statusAt = now;
  }

  /** Follows the news of the run until the view is closed. Never rejects. */
  follow(): Promise<void> {
    return this.#news.follow();
  }

  /** Takes in a result for which the log has no room: the record of the run alone has it. */
  endUnlogged(news: Result): void {
    if (this.#progress.outcomeOf(news.node_id) !== undefined) return;
    this.#end(news);
    this.#deps.wake();
  }

  #noteCaughtUp(): void {
    // The log has no details of these any more.
    for (const node of this.#bare) this.#tails.end(node);
    this.#bare.clear();
  }

  #takeIn(news: EdgeNews, isNew: boolean): void {
    const { node_id: node, command_id: commandId } = news;
    if (this.#progress.placeOf(node) === undefined || commandId !== commandIdOf(this.uid, node)) return;
    if (this.#progress.outcomeOf(node) !== undefined && !this.#bare.has(node)) return;
    if (news.kind === 'result') this.#end(news);
    else if (isNew) this.#tails.add(node, news.chunk);
  }

  #end(news: Result): void {
    const { node_id: node, result } = news;
    if (this.#bare.delete(node)) return this.#addDetails(node, this.#recordOf(news));
    this.#progress.record({ kind: 'result', node, outcome: result.outcome });
    this.unstored.add(this.#tails.keep(this.#recordOf(news)), this.#deps.clock.steadyMs());
    this.commands.noteEnded(node);
    this.said.noteBack(node);
  }

  #recordOf({ node_id: nodeId, command_id: commandId, result, at }: Result): NodeRecord {
    const [tails, sentAt] = [this.#tails.end(nodeId), this.commands.sentAt(nodeId)];
    return nodeRecord({ nodeId, commandId, result, tails, sentAt, endedAt: Date.parse(at) });
  }

  /** The outcome that a status has reported counts, also where the log has lost it and has a later one. */
  #addDetails(node: string, record: NodeRecord): void {
    this.unstored.replace(node, (bare) => (bare.outcome === record.outcome ? this.#tails.keep(record) : bare));
  }
}
