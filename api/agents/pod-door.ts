import { hash } from 'node:crypto';
import { aborted } from '../../lib/aborted.ts';
import { AppError } from '../../lib/errors.ts';
import type { NewId } from '../../lib/ids.ts';
import type { DispatchPlan, DispatchResult } from '../../lib/tools/tool.ts';
import { type ConversationLog, Stopped } from './log.ts';

/** A command for the pod, under the id that its result names. */
export interface Offered {
  readonly dispatch_id: string;
  readonly plan: DispatchPlan;
}

interface Wanted {
  readonly callId: string;
  readonly plan: DispatchPlan;
  readonly isIdempotent: boolean;
}

interface Ended {
  /** Undefined: the outcome of the command is unknown. */
  readonly result?: DispatchResult;
  readonly dispatch_id: string;
  readonly result_hash?: string;
}

interface Offer extends Wanted {
  readonly dispatchId: string;
  readonly settle: (ended: Ended) => void;
}

interface PodDoorDeps {
  readonly log: ConversationLog;
  readonly newId: NewId;
  /** Aborts when the driver is to leave: a command may be with the pod for long. */
  readonly leave: AbortSignal;
  /** Tells listeners of a record. */
  readonly tell: (sequence: number) => void;
}

/** Between the driver of a conversation and its pod: at most one command at a time. */
export class PodDoor {
  readonly #deps: PodDoorDeps;
  #offer: Offer | undefined;
  #isClosed = false;
  /** Wakes those that wait for an offer or for the end. */
  #changed = Promise.withResolvers<void>();

  constructor(deps: PodDoorDeps) {
    this.#deps = deps;
  }

  /** Hands a command to the pod, however late the pod asks, and waits for its result. */
  async dispatch(wanted: Wanted, signal: AbortSignal): Promise<Ended> {
    const earlier = this.#deps.log.state.underWay?.dispatch;
    const ended = Promise.withResolvers<Ended>();
    const { leave } = this.#deps;
    const abort = (): void => ended.reject(signal.reason);
    const stop = (): void => ended.reject(new Stopped());
    signal.addEventListener('abort', abort, { once: true });
    leave.addEventListener('abort', stop, { once: true });
    if (leave.aborted) stop();
    this.#offer = { ...wanted, dispatchId: earlier?.dispatch_id ?? this.#deps.newId(), settle: ended.resolve };
    this.#wake();
    try {
      signal.throwIfAborted();
      return await ended.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      leave.removeEventListener('abort', stop);
      this.#offer = undefined;
    }
  }

  /** The next command for the pod; undefined when the conversation is over here, or `signal` aborts first. */
  async ask(podUid: string, signal: AbortSignal): Promise<Offered | undefined> {
    const gone = aborted(signal);
    for (;;) {
      const changed = this.#changed.promise;
      if (this.#isClosed || signal.aborted) return undefined;
      const offer = this.#offer;
      const given = offer === undefined ? undefined : await this.#give(offer, podUid);
      if (given !== undefined) return given;
      if (this.#offer === offer) await Promise.race([changed, gone]);
    }
  }

  /**
   * Takes the result of a command. The same result again changes nothing (requirements AMB-038). A driver that has just
   * taken the conversation over may not offer the command yet: the result waits for it.
   * @throws AppError `not_found` for an unknown id, `conflict` for another result of a command that has ended.
   */
  async report(dispatchId: string, result: DispatchResult, signal: AbortSignal): Promise<void> {
    const resultHash = hashOf(result);
    const gone = aborted(signal);
    for (;;) {
      const changed = this.#changed.promise;
      if (this.#take(dispatchId, result, resultHash)) return;
      if (this.#isClosed || signal.aborted) throw new AppError('unavailable', 'the conversation moves; send it again');
      await Promise.race([changed, gone]);
    }
  }

  /** False where the driver is yet to offer the command. */
  #take(dispatchId: string, result: DispatchResult, resultHash: string): boolean {
    const { dispatches, underWay } = this.#deps.log.state;
    if (!dispatches.has(dispatchId)) throw unknownDispatch();
    const offer = this.#offer;
    if (offer?.dispatchId === dispatchId) {
      this.#offer = undefined;
      offer.settle({ result, dispatch_id: dispatchId, result_hash: resultHash });
      return true;
    }
    const known = dispatches.get(dispatchId);
    if (known === resultHash) return true;
    if (known !== undefined || underWay?.dispatch?.dispatch_id !== dispatchId) throw resultConflict();
    return false;
  }

  /** Sends away those that wait. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Written down before the pod has it. A new pod gets what another one was given only where that does no harm. */
  async #give(offer: Offer, podUid: string): Promise<Offered | undefined> {
    const { log, tell } = this.#deps;
    const { dispatchId, callId, plan, isIdempotent } = offer;
    const earlier = log.state.underWay?.dispatch;
    if (earlier !== undefined && earlier.pod_uid !== podUid && !isIdempotent) {
      this.#offer = undefined;
      offer.settle({ dispatch_id: dispatchId });
      return undefined;
    }
    if (earlier?.pod_uid !== podUid) {
      tell(await log.append({ kind: 'dispatched', call_id: callId, dispatch_id: dispatchId, pod_uid: podUid }));
    }
    return this.#offer === offer ? { dispatch_id: dispatchId, plan } : undefined;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** The order of the fields is ours, so that equal results have equal hashes. */
const hashOf = ({ exit_code, stdout, stderr, duration_ms, truncated }: DispatchResult): string =>
  hash('sha256', JSON.stringify([exit_code, stdout, stderr, duration_ms, truncated]));

const unknownDispatch = (): AppError =>
  new AppError('not_found', 'dispatch_id names no dispatch of this execution', { reason: 'UnknownDispatch' });

const resultConflict = (): AppError =>
  new AppError('conflict', 'another result of this dispatch was taken before', { reason: 'ResultConflict' });
