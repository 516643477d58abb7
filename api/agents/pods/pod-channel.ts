import { hash } from 'node:crypto';
import { aborted } from '../../../lib/aborted.ts';
import { type CallUnderWay, type ConversationState, isDispatchUnderWay } from '../../../lib/conversation/state.ts';
import { AppError } from '../../../lib/errors.ts';
import type { NewId } from '../../../lib/ids.ts';
import type { DispatchPlan, DispatchResult } from '../../../lib/tools/tool.ts';
import { type ConversationLog, isMoving, Stopped } from '../conversation/log.ts';

/** A command for the pod, under the id that its result names. */
export interface Offered {
  readonly dispatch_id: string;
  readonly plan: DispatchPlan;
}

interface Wanted {
  readonly callId: string;
  readonly plan: DispatchPlan;
  readonly isIdempotent: boolean;
  /** Asked each time before a pod gets the command; one that no pod may have is offered no more, and its caller ends it. */
  readonly mayBegin?: () => Promise<boolean>;
  /** Says that a pod has the command. */
  readonly onGiven?: () => void;
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
  readonly stop: () => void;
}

interface PodChannelDeps {
  readonly log: ConversationLog;
  readonly newId: NewId;
  /** Aborts when the driver is to leave: a command may be with the pod for long. */
  readonly leave: AbortSignal;
  /** Tells listeners of a record. */
  readonly tell: (sequence: number) => void;
  /** Whether the execution has this pod now. */
  readonly isCurrent: (podUid: string) => boolean;
}

/**
 * Between the driver of a conversation and its pod, which takes one command at a time: that of the conversation, then those
 * of signed calls in order.
 */
export class PodChannel {
  readonly #deps: PodChannelDeps;
  readonly #offers = new Map<string, Offer>();
  /** Hashes of results that the driver has, by the id of the dispatch: their ends may not be written down yet. */
  readonly #reported = new Map<string, string>();
  #isClosed = false;
  /** Wakes those that wait for an offer or for the end. */
  #changed = Promise.withResolvers<void>();

  constructor(deps: PodChannelDeps) {
    this.#deps = deps;
  }

  /** Hands a command to the pod, however late the pod asks, and waits for its result. @throws Stopped once it is closed. */
  async dispatch(wanted: Wanted, signal: AbortSignal): Promise<Ended> {
    const { callId } = wanted;
    signal.throwIfAborted();
    // A command that was still to be offered when the conversation ended here is for the next driver.
    if (this.#isClosed) throw new Stopped();
    const earlier = this.#dispatchOf(callId);
    const ended = Promise.withResolvers<Ended>();
    // Both signals may abort before anything waits for it, and a rejection without a reader ends the process.
    ended.promise.catch(() => undefined);
    const { leave } = this.#deps;
    const abort = (): void => ended.reject(signal.reason);
    const stop = (): void => ended.reject(new Stopped());
    signal.addEventListener('abort', abort, { once: true });
    leave.addEventListener('abort', stop, { once: true });
    if (leave.aborted) stop();
    const dispatchId = earlier?.dispatch_id ?? this.#deps.newId();
    this.#offers.set(callId, { ...wanted, dispatchId, settle: ended.resolve, stop });
    this.#wake();
    try {
      signal.throwIfAborted();
      return await ended.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      leave.removeEventListener('abort', stop);
      this.#offers.delete(callId);
    }
  }

  /**
   * The next command for the pod; undefined when the conversation is over here, or `signal` aborts first.
   * @throws AppError `forbidden` for a pod that another one has replaced, also while it waits: its connection may outlive
   * its node (requirements AMB-197).
   */
  async ask(podUid: string, signal: AbortSignal): Promise<Offered | undefined> {
    const gone = aborted(signal);
    for (;;) {
      const changed = this.#changed.promise;
      if (this.#isClosed || signal.aborted) return undefined;
      this.#requireCurrent(podUid);
      const offer = this.#nextFor(podUid);
      const given = offer === undefined ? undefined : await this.#give(offer, podUid).catch(unlessMoving);
      if (given !== undefined) return given;
      if (this.#nextFor(podUid) === offer) await Promise.race([changed, gone]);
    }
  }

  #requireCurrent(podUid: string): void {
    if (!this.#deps.isCurrent(podUid))
      throw new AppError('forbidden', 'the execution has another pod now, or will have one', { reason: 'PodReplaced' });
  }

  /**
   * Takes the result of a command. Resolves once the end of the command is written down: a pod that knows its result taken runs
   * the command again where a later driver offers it. The same result again changes nothing (requirements AMB-038). A driver that
   * has just taken the conversation over may not offer the command yet: the result waits for it.
   * @throws AppError `not_found` for an unknown id, `conflict` for another result of a command that has ended, `unavailable` where the
   * conversation moves or the log cannot be asked.
   */
  async report(dispatchId: string, result: DispatchResult, signal: AbortSignal): Promise<void> {
    const resultHash = hashOf(result);
    const gone = aborted(signal);
    // The command of the driver that has overtaken this one is not known here.
    if (!this.#deps.log.state.dispatches.has(dispatchId)) {
      const isSeen = await Promise.race([this.#deps.log.look(), gone]);
      if (isSeen === false) throw unseen();
    }
    for (;;) {
      const changed = Promise.race([this.#changed.promise, this.#deps.log.appended]);
      if (this.#deps.log.overtaken.aborted) throw moves();
      if (this.#isTaken(dispatchId, result, resultHash)) return;
      if (this.#isClosed || signal.aborted) throw moves();
      await Promise.race([changed, gone]);
    }
  }

  /** False where the driver is yet to offer the command, or to write its end down. */
  #isTaken(dispatchId: string, result: DispatchResult, resultHash: string): boolean {
    const { dispatches } = this.#deps.log.state;
    if (!dispatches.has(dispatchId)) throw unknownDispatch();
    const offer = [...this.#offers.values()].find((one) => one.dispatchId === dispatchId);
    if (offer !== undefined) {
      this.#offers.delete(offer.callId);
      this.#forgetEnded();
      this.#reported.set(dispatchId, resultHash);
      offer.settle({ result, dispatch_id: dispatchId, result_hash: resultHash });
    }
    const known = dispatches.get(dispatchId) ?? this.#reported.get(dispatchId);
    if (known !== undefined && known !== resultHash) throw resultConflict();
    // The call may have ended without the result of its command; the pod is done with it all the same.
    return !this.#isUnderWay(dispatchId);
  }

  #isUnderWay(dispatchId: string): boolean {
    return isDispatchUnderWay(this.#deps.log.state, dispatchId);
  }

  /** The log has the hashes of results whose ends are written down. */
  #forgetEnded(): void {
    for (const id of this.#reported.keys()) if (!this.#isUnderWay(id)) this.#reported.delete(id);
  }

  /** The pod that was given the command of a call last. */
  #dispatchOf(callId: string): CallUnderWay['dispatch'] {
    const { underWay, signed } = this.#deps.log.state;
    return underWay?.call_id === callId ? underWay.dispatch : signed.get(callId)?.dispatch;
  }

  /** One that the pod has already comes first: the pod may not know that it has it. */
  #nextFor(podUid: string): Offer | undefined {
    const offers = [...this.#offers.values()];
    const { underWay } = this.#deps.log.state;
    return (
      offers.find(({ callId }) => this.#dispatchOf(callId)?.pod_uid === podUid) ??
      offers.find(({ callId }) => callId === underWay?.call_id) ??
      offers[0]
    );
  }

  /** Sends away those that wait, whether for a command or for its result. */
  close(): void {
    this.#isClosed = true;
    for (const offer of this.#offers.values()) offer.stop();
    this.#wake();
  }

  /**
   * Written down before the pod has it. A new pod gets what another one was given only where that does no harm: two pods
   * that ask at once are looked at one after the other.
   */
  async #give(offer: Offer, podUid: string): Promise<Offered | undefined> {
    const { log, tell } = this.#deps;
    const { dispatchId, callId, plan, isIdempotent } = offer;
    if ((await offer.mayBegin?.()) === false) {
      this.#offers.delete(callId);
      return undefined;
    }
    let isLost = false;
    const sequence = await log.appendMade(() => {
      this.#requireCurrent(podUid);
      const earlier = this.#dispatchOf(callId);
      isLost = earlier !== undefined && earlier.pod_uid !== podUid && !isIdempotent;
      if (isLost || earlier?.pod_uid === podUid) return undefined;
      return { kind: 'dispatched', call_id: callId, dispatch_id: dispatchId, pod_uid: podUid };
    });
    if (isLost) {
      this.#offers.delete(callId);
      offer.settle({ dispatch_id: dispatchId });
      return undefined;
    }
    if (sequence !== undefined) tell(sequence);
    offer.onGiven?.();
    return this.#offers.get(callId) === offer ? { dispatch_id: dispatchId, plan } : undefined;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** The result of a command, without its texts. */
export interface Reported {
  readonly dispatch_id: string;
  readonly hash: string;
}

export const reportedOf = (result: DispatchResult & { readonly dispatch_id: string }): Reported => ({
  dispatch_id: result.dispatch_id,
  hash: hashOf(result),
});

/**
 * Accepts the result of a command after the end of the conversation: the one that counted, or one for a command without a result.
 * @throws AppError `not_found` for an unknown id, `conflict` for another result (requirements AMB-038).
 */
export function checkReported(
  { dispatches }: Pick<ConversationState, 'dispatches'>,
  { dispatch_id, hash }: Reported,
): void {
  if (!dispatches.has(dispatch_id)) throw unknownDispatch();
  const known = dispatches.get(dispatch_id);
  if (known !== undefined && known !== hash) throw resultConflict();
}

/** A pod whose conversation moves is not refused: its request finds the next driver. */
function unlessMoving(error: unknown): undefined {
  if (!isMoving(error)) throw error;
}

/** The order of the fields is ours, so that equal results have equal hashes. */
const hashOf = ({ exit_code, stdout, stderr, duration_ms, truncated }: DispatchResult): string =>
  hash('sha256', JSON.stringify([exit_code, stdout, stderr, duration_ms, truncated]));

const moves = (): AppError => new AppError('unavailable', 'the conversation moves; send it again');

const unseen = (): AppError =>
  new AppError('unavailable', 'the event bus does not say whether the conversation has moved; send it again');

const unknownDispatch = (): AppError =>
  new AppError('not_found', 'dispatch_id names no dispatch of this execution', { reason: 'UnknownDispatch' });

const resultConflict = (): AppError =>
  new AppError('conflict', 'another result of this dispatch was taken before', { reason: 'ResultConflict' });
