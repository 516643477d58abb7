import type { FleetRun, FleetRunStatus } from '../../crds/schema/fleet-run.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  commandIdOf,
  createOutputTexts,
  type EdgeNews,
  type EdgeOutcome,
  type OutputText,
} from '../../lib/edge/index.ts';
import { type NodeRecord, nodeRecord, type Tails, tailOf } from '../../lib/fleet/node-record.ts';
import { createProgress, type FleetProgress } from '../../lib/fleet/plan.ts';
import { completePolicy, type FleetPolicy } from '../../lib/fleet/policy.ts';
import type { FrozenTarget, FrozenTargets } from '../../lib/fleet/run-record.ts';
import { fleetRunLimits } from './limits.ts';
import type { LoggedNews, NewsReader } from './ports.ts';
import { WaitingRecords } from './waiting-records.ts';

export interface SessionDeps {
  readonly news: NewsReader;
  readonly clock: Clock;
  /** Called when there is something new to decide on. */
  readonly wake: () => void;
}

interface SessionFacts {
  /** In full. */
  readonly run: FleetRun;
  readonly tenant: string;
  readonly targets: FrozenTargets;
  /** Outcomes that are stored already, in the order in which they came. */
  readonly records: readonly NodeRecord[];
  /** Whether this process fixed the targets itself and nothing was sent yet. */
  readonly isNew: boolean;
}

/** A result in place of a host's, and since when the log has it; undefined: it is on its way. */
export interface Said {
  readonly result: EdgeOutcome;
  readonly at: number | undefined;
}

/** This process's view of a run under way. All of it can be read again from the log, the claims and the store. */
export class RunSession {
  readonly uid: string;
  readonly tenant: string;
  readonly run: FleetRun;
  readonly policy: FleetPolicy;
  readonly progress: FleetProgress;
  readonly stop = new AbortController();
  /** Whether all that the log held when the session was opened has been taken in. */
  isCaughtUp = false;
  isProbed: boolean;
  isCancelTaken = false;
  cancellation: FleetRunStatus['cancellation'];
  readonly waiting: WaitingRecords;
  statusAt = 0;
  /** A process before this one may have sent commands. */
  readonly isResumed: boolean;
  isAbandoned = false;
  /** For hosts. Undefined: as the facts of the run say. */
  #cancelReason: string | undefined;
  /** Launches under way, by host. */
  readonly launches = new Map<string, Promise<void>>();
  /** Results that this process appended in place of hosts, and that have not come back yet. */
  readonly said = new Map<string, Said>();
  /** Hosts whose command is not wanted any more. */
  readonly cancelled = new Set<string>();
  /** Hosts of which it is not certain that the command reached them. */
  readonly unsure = new Set<string>();
  /** Hosts to which the last cancellation could not be handed over. */
  readonly unreached = new Set<string>();
  readonly #targets: ReadonlyMap<string, FrozenTarget>;
  readonly #sentAt = new Map<string, number>();
  readonly #tails = new Map<string, Tails>();
  /** By host: each has one command. */
  readonly #texts = createOutputTexts();
  #tailBytes = 0;
  #after = 0;
  readonly #deps: SessionDeps;

  constructor(deps: SessionDeps, { run, tenant, targets, records, isNew }: SessionFacts) {
    this.#deps = deps;
    this.uid = run.metadata.uid ?? '';
    this.tenant = tenant;
    this.run = run;
    this.policy = completePolicy(run.spec.policy);
    this.#targets = new Map(targets.resolved.map((target) => [target.node_id, target]));
    this.progress = createProgress({
      nodes: targets.resolved.map(({ node_id: id }) => id),
      policy: this.policy,
      isResumed: !isNew,
    });
    this.waiting = new WaitingRecords(records.length);
    this.isProbed = isNew;
    this.isResumed = !isNew;
    for (const { node_id: node, outcome } of records) this.progress.record({ kind: 'result', node, outcome });
  }

  /** One of the fixed targets. */
  readonly target = (node: string): FrozenTarget =>
    this.#targets.get(node) ?? { node_id: node, host_uid: '', name: node };

  /** The command may leave from now on. */
  noteSending(node: string): void {
    this.#sentAt.set(node, this.#deps.clock.now());
  }

  /** It has left, or may have. */
  noteSent(node: string): void {
    this.progress.record({ kind: 'sent', node, at: this.#deps.clock.now() });
  }

  /** Whether the command may have left this process. */
  hasLeft(node: string): boolean {
    return this.#sentAt.has(node);
  }

  /** Whether a host has its outcome, or one that was said for it is on its way. */
  isSettled(node: string): boolean {
    return this.progress.outcomeOf(node) !== undefined || this.said.has(node);
  }

  get cancelReason(): string {
    if (this.#cancelReason !== undefined) return this.#cancelReason;
    return this.isCancelTaken ? 'the run was cancelled' : 'the run was halted by its failure policy';
  }

  set cancelReason(reason: string) {
    this.#cancelReason = reason;
  }

  /** Known never to have left. */
  noteNotStarted(node: string): void {
    this.progress.record({ kind: 'result', node, outcome: 'not_started' });
  }

  /** Follows the news of the run until the session ends. Never rejects. */
  async follow(): Promise<void> {
    const { clock } = this.#deps;
    const { signal } = this.stop;
    let pauseMs: number = fleetRunLimits.pauseMs;
    while (!signal.aborted) {
      const came = await this.#readPage();
      if (came > 0) pauseMs = fleetRunLimits.pauseMs;
      else await clock.sleep(pauseMs, signal);
      if (came <= 0) pauseMs = Math.min(2 * pauseMs, fleetRunLimits.longestPauseMs);
    }
  }

  /** How many messages came; below 0 where the bus is away: what it holds is read when it is back. */
  async #readPage(): Promise<number> {
    const { news, wake } = this.#deps;
    const page = await news.read(this.tenant, this.uid, this.#after).catch(() => undefined);
    if (page === undefined || this.stop.signal.aborted) return -1;
    for (const logged of page) this.#takeIn(logged);
    const isFirst = page.length === 0 && !this.isCaughtUp;
    if (isFirst) this.isCaughtUp = true;
    if (isFirst || (page.length > 0 && this.isCaughtUp)) wake();
    return page.length;
  }

  #takeIn({ sequence, news }: LoggedNews): void {
    this.#after = sequence;
    if (news === undefined) return;
    const { node_id: node, command_id: commandId } = news;
    if (!this.#targets.has(node) || commandId !== commandIdOf(this.uid, node)) return;
    if (this.progress.outcomeOf(node) !== undefined) return;
    if (news.kind === 'progress') return this.#keepTail(news);
    this.#end(news);
  }

  #end({ node_id: node, command_id: commandId, result, at }: Extract<EdgeNews, { readonly kind: 'result' }>): void {
    this.progress.record({ kind: 'result', node, outcome: result.outcome });
    const sentAt = this.#sentAt.get(node);
    for (const rest of this.#texts.end(node)) this.#addText(node, rest);
    const tails = this.#tails.get(node);
    const record = nodeRecord({ nodeId: node, commandId, result, tails, sentAt, endedAt: Date.parse(at) });
    this.waiting.add(record, this.#deps.clock.now());
    this.#forget(node);
  }

  #keepTail({ node_id: node, chunk }: Extract<EdgeNews, { readonly kind: 'progress' }>): void {
    if (!('stream' in chunk)) return;
    this.#addText(node, {
      stream: chunk.stream,
      text: this.#texts.next(node, chunk.stream, Buffer.from(chunk.data, 'base64')),
    });
  }

  #addText(node: string, { stream, text }: OutputText): void {
    const before = this.#tails.get(node) ?? { stdout: '', stderr: '' };
    const bytes = this.#tailBytes > fleetRunLimits.tailsBytes ? fleetRunLimits.shortTailBytes : undefined;
    const after = { ...before, [stream]: tailOf(before[stream] + text, bytes) };
    this.#tails.set(node, after);
    this.#tailBytes += lengthOf(after) - lengthOf(before);
  }

  #forget(node: string): void {
    const tails = this.#tails.get(node);
    if (tails !== undefined) this.#tailBytes -= lengthOf(tails);
    this.#tails.delete(node);
    this.#sentAt.delete(node);
    this.said.delete(node);
  }
}

const lengthOf = ({ stdout, stderr }: Tails): number => stdout.length + stderr.length;
