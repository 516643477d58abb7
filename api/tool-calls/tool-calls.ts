import { LRUCache } from 'lru-cache';
import type { ToolCall, ToolCallStatus } from '../../crds/schema/tool-call.ts';
import { aborted } from '../../lib/aborted.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { resultWithin } from '../../lib/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import { AppError, messageOf, hasReason } from '../../lib/errors.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import type { NewId } from '../../lib/ids.ts';
import type { Informer } from '../../lib/informer/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { givenUp } from '../../lib/tools/given-up.ts';
import { patiently } from '../agents/conversation/patiently.ts';
import { type Holders, scanMs } from './holders.ts';
import { isUnwanted, mayRunAgain, nextAttempt, nextStep, type Replica } from './next-step.ts';
import { type CallOutcome, cancelledCall, failedCall } from './outcome.ts';
import { claimCall, type WriteDeps, writeStatus } from './write.ts';

interface ToolCallsDeps extends WriteDeps {
  readonly bus: Pick<EventBus, 'identity' | 'problem'>;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly informer: Pick<Informer<ToolCall>, 'onChange'> & {
    readonly cache: Pick<Informer<ToolCall>['cache'], 'getByUid' | 'values'>;
  };
  readonly holders: Holders;
  /** Whether a call of the tool that was under way when its replica died may be made again. */
  readonly isRepeatable: (tool: string) => boolean;
  /** How long calls that cannot be made again may go on once this replica is to end. Default: 6 s. */
  readonly graceMs?: number;
  /** Runs a claimed call. Never rejects. */
  readonly execute: (call: ToolCall, signal: AbortSignal) => Promise<CallOutcome>;
}

/** Runs the tool calls of workflows, each by at most one replica (ADR 0096). */
export interface ToolCalls {
  /** Runs what there is until `stop` aborts, and lets go of what is under way. Never rejects. */
  run(stop: AbortSignal): Promise<void>;
}

/** Calls that one replica runs at a time; each may hold an answer of a mebibyte. Larger ones have the room of their tool. */
const poolSize = 64;
const usualGraceMs = 6_000;
/** How long calls that a stopping replica gives up may take to end. */
const lastWordMs = 9_000;
/** No timer of the machine takes more than 24.8 days. */
const longestSleepMs = 24 * 86_400_000;
/** Calls that have ended here and may show as running in the cache for a moment yet. */
const rememberedCalls = 10_000;

export function createToolCalls(deps: ToolCallsDeps): ToolCalls {
  return new CallRunner(deps);
}

interface UnderWay {
  readonly abort: AbortController;
  ended: Promise<void>;
}

/** `lost`: the holder whose claim the replica takes over. */
interface Taking {
  readonly replica: Replica;
  readonly lost: string | undefined;
}

class CallRunner implements ToolCalls {
  readonly #deps: ToolCallsDeps;
  readonly #pool: FairPool;
  readonly #underWay = new Map<string, UnderWay>();
  /** Uids of the calls whose tool this process has called: none of them is called here again. */
  readonly #begun = new LRUCache<string, true>({ max: rememberedCalls });
  /** Aborts when the process has no time left to write. */
  readonly #silent = new AbortController();
  #replica: Replica | undefined;
  #stop: AbortSignal = AbortSignal.abort();

  constructor(deps: ToolCallsDeps) {
    this.#deps = deps;
    this.#pool = createFairPool({ size: poolSize, clock: deps.clock });
    deps.informer.onChange(({ before, after }) => {
      const uid = (after ?? before)?.metadata.uid ?? '';
      if (after === undefined || isUnwanted(after)) this.#giveUp(uid);
      if (after !== undefined) this.#consider(after);
    });
  }

  async run(stop: AbortSignal): Promise<void> {
    const { bus, clock, logger, holders, newId, informer } = this.#deps;
    const identity = await patiently({ clock, logger, signal: stop }, () => bus.identity()).catch(() => undefined);
    if (identity === undefined || stop.aborted) return;
    const group = `${identity}/`;
    const replica = { group, holder: `${group}${newId()}` };
    const served = holders.serve(replica.holder);
    // The holder of a claim answers whether it lives.
    await Promise.race([served.ready.catch(() => undefined), aborted(stop)]);
    this.#replica = replica;
    this.#stop = stop;
    while (!stop.aborted) {
      for (const call of informer.cache.values()) this.#consider(call);
      await clock.sleep(scanMs, stop);
    }
    await this.#leave();
    await served.close(0);
  }

  #consider(call: ToolCall): void {
    const { uid = '' } = call.metadata;
    const replica = this.#replica;
    if (replica === undefined || this.#stop.aborted || this.#underWay.has(uid)) return;
    // Without the bus neither the audit nor another replica would know of the call.
    if (this.#deps.bus.problem() !== undefined) return;
    const step = nextStep(call, replica);
    if (step.kind === 'none' || (step.kind === 'run' && this.#begun.has(uid))) return;
    const underWay: UnderWay = { abort: new AbortController(), ended: Promise.resolve() };
    this.#underWay.set(uid, underWay);
    underWay.ended = this.#take(call, replica, underWay.abort.signal).finally(() => this.#underWay.delete(uid));
  }

  /** Never rejects: what fails here is tried again by the next scan, on whichever replica. */
  async #take(call: ToolCall, replica: Replica, signal: AbortSignal): Promise<void> {
    const step = nextStep(call, replica);
    const { namespace, name } = call.metadata;
    try {
      if (step.kind === 'cancel') return await this.#write(call, undefined, cancelledCall);
      const lost = step.kind === 'watch' ? step.holder : undefined;
      if (lost === undefined || (await this.#mayTakeOver(call, lost)))
        await this.#enter(call, { replica, lost }, signal);
    } catch (error) {
      if (signal.aborted || this.#stop.aborted) return;
      this.#deps.logger.warn({ namespace, call: name, problem: messageOf(error) }, 'tool call not taken yet');
    }
  }

  async #enter(call: ToolCall, { replica, lost }: Taking, signal: AbortSignal): Promise<void> {
    const until = AbortSignal.any([signal, this.#stop]);
    using _place = await this.#pool.enter({ tenant: call.metadata.namespace ?? '', signal: until });
    if (!this.#stop.aborted) await this.#claimAndRun(call, { replica, lost }, signal);
  }

  /** Whether the call of a replica that is gone is made again here. One that is not ends. */
  async #mayTakeOver(call: ToolCall, holder: string): Promise<boolean> {
    const { holders, isRepeatable } = this.#deps;
    if (!(await holders.isLost(holder))) return false;
    if (mayRunAgain(call, isRepeatable(call.spec.tool)) && !isUnwanted(call)) return true;
    const message = 'the replica of the API that ran the call is gone; the tool may have run';
    await this.#write(call, holder, failedCall('OutcomeUnknown', message));
    return false;
  }

  async #claimAndRun(call: ToolCall, { replica, lost }: Taking, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const isFree = ({ status }: ToolCall): boolean =>
      lost === undefined ? status?.phase === undefined : status?.claim?.by === lost;
    const claim = { by: replica.holder, at: new Date(clock.now()).toISOString(), attempt: nextAttempt(call.status) };
    const isWanted = (latest: ToolCall): boolean => !isUnwanted(latest) && isFree(latest);
    const whole = await claimCall(this.#deps, call, { claim, isWanted });
    const { uid = '' } = call.metadata;
    if (whole === undefined || this.#begun.has(uid)) return;
    // It was cancelled while the answer to its claim was lost.
    if (isUnwanted(whole)) return await this.#write(whole, replica.holder, cancelledCall);
    this.#begun.set(uid, true);
    await this.#run(whole, replica, signal);
  }

  async #run(call: ToolCall, { holder }: Replica, signal: AbortSignal): Promise<void> {
    const { execute, isRepeatable } = this.#deps;
    using limit = this.#limitOf(call, signal);
    const outcome = await execute(call, limit.signal);
    const isLeft = leaves(limit.signal);
    // Another replica makes it again: nothing is lost by that, and its state waits for the answer.
    if (isLeft && outcome.phase !== 'completed' && isRepeatable(call.spec.tool))
      return await this.#writeWhole(call, holder, claimOf(call), limit.signal);
    return await this.#write(call, holder, outcome, limit.signal);
  }

  /** The signal of a call, which also ends with its timeout: the controllers may be away when its state is over. */
  #limitOf({ spec }: ToolCall, signal: AbortSignal) {
    const { clock } = this.#deps;
    const [over, ended] = [new AbortController(), new AbortController()];
    const ms = Math.min(parseDuration(spec.timeout, { field: 'timeout' }), longestSleepMs);
    void clock.sleep(ms, ended.signal).then(() => {
      if (!ended.signal.aborted) over.abort(givenUp('timeout', 'the time of the call is over'));
    });
    return { signal: AbortSignal.any([signal, over.signal]), [Symbol.dispose]: () => ended.abort() };
  }

  /** `over`: the end of a call that has run. The next scan tries the others again. */
  #write(call: ToolCall, holder: string | undefined, outcome: CallOutcome, over = AbortSignal.abort()): Promise<void> {
    const finished_at = new Date(this.#deps.clock.now()).toISOString();
    return this.#writeWhole(call, holder, { ...claimOf(call), ...outcome, finished_at }, over);
  }

  #writeWhole(call: ToolCall, holder: string | undefined, status: ToolCallStatus, over: AbortSignal): Promise<void> {
    return writeStatus(this.#deps, call, { holder, status }, { silent: this.#silent.signal, over });
  }

  #giveUp(uid: string): void {
    this.#underWay.get(uid)?.abort.abort(givenUp('cancelled', 'the call was cancelled'));
  }

  async #leave(): Promise<void> {
    const { clock, informer, isRepeatable, graceMs = usualGraceMs } = this.#deps;
    const all = [...this.#underWay];
    const stop = (one: UnderWay): void =>
      one.abort.abort(new AppError('unavailable', 'the replica stops', { reason: 'ReplicaStops' }));
    for (const [uid, one] of all) if (isRepeatable(informer.cache.getByUid(uid)?.spec.tool ?? '')) stop(one);
    const ended = Promise.all(all.map(([, one]) => one.ended));
    void clock.sleep(graceMs + lastWordMs).then(() => this.#silent.abort());
    await resultWithin(clock, graceMs, ended);
    for (const [, one] of all) stop(one);
    await ended;
  }
}

const claimOf = ({ status }: ToolCall): Pick<ToolCallStatus, 'claim'> =>
  status?.claim === undefined ? {} : { claim: status.claim };

const leaves = ({ aborted: isAborted, reason }: AbortSignal): boolean => isAborted && hasReason(reason, 'ReplicaStops');
