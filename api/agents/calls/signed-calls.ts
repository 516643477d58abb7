import { argumentBytes, heldBytes } from '../../../lib/conversation/held-bytes.ts';
import { conversationLimits } from '../../../lib/conversation/limits.ts';
import type { ConversationState, SignedUnderWay } from '../../../lib/conversation/state.ts';
import { startDeadline } from '../../../lib/deadline.ts';
import { AppError, hasReason } from '../../../lib/errors.ts';
import { onAbort } from '../../../lib/on-abort.ts';
import { failure } from '../../../lib/tools/answers.ts';
import { isRefusal, type ToolArguments } from '../../../lib/tools/tool.ts';
import { type ConversationDeps, record } from '../conversation/conversation-deps.ts';
import { isMoving, Stopped } from '../conversation/log.ts';
import type { Room } from '../drivers/room.ts';
import { type Answered, answerByPod, unknownOutcome } from '../pods/pod-answer.ts';
import { type BeginPermit, createBeginPermit } from './begin-permit.ts';
import { lostAnswer, writtenEnd } from './written-end.ts';

/** A signed call of a tool that runs in the pod, as the driver of the conversation gets it. */
export interface SignedCall {
  readonly call_id: string;
  readonly tool: string;
  readonly arguments: ToolArguments;
}

/** Signed calls at the driver of one conversation: each is written down, given to the pod, and its end written down. */
export interface SignedCalls {
  /** Writes the call down. Resolves to the place of its record. @throws AppError `ContainerBusy`, also where there is no room for it. */
  take(call: SignedCall): Promise<number>;
  /** Ends those that an earlier driver has left. */
  resume(): void;
  /** Resolves when nothing of them runs any more, after the signal of the driver has aborted. */
  ended(): Promise<void>;
}

/** Where the driver of a conversation takes signed calls from other replicas. */
export const signedAddress = (executionId: string) => ({ service: 'agent.signed', key: executionId });

/** Signed calls of one execution at a time. */
const pendingMax = 4;
/** How long the pod may be busy with another command until a call is given up, from its record on. */
const patienceMs = 20_000;

export const containerBusy = (message: string): AppError =>
  new AppError('limit_exceeded', message, { reason: 'ContainerBusy' });

/** The room of the conversation. */
export type SignedRoom = Pick<Room, 'fits'>;

/** Nothing of it is kept where it is refused. @throws AppError `ContainerBusy` */
function requireRoom(state: ConversationState, args: ToolArguments, room: SignedRoom): void {
  const bytes = argumentBytes(args);
  const ofSigned = state.signedBytes + bytes;
  if (ofSigned > conversationLimits.signedBytes)
    throw containerBusy(
      'the arguments of the signed calls that wait take too much memory; call again when they have ended',
    );
  if (!room.fits(heldBytes(state) + bytes))
    throw containerBusy('the replica has no room for the arguments; call again later, or with smaller ones');
}

/** `closed` aborts when the driver takes no more calls and gives the pod no more commands: its next one takes what has not ended. */
export function createSignedCalls(deps: ConversationDeps, room: SignedRoom, closed: AbortSignal): SignedCalls {
  const { log, tell } = deps;
  const running = new Map<string, Promise<void>>();
  const begin = (call: SignedUnderWay): void => {
    const { call_id: id } = call;
    if (running.has(id)) return;
    running.set(
      id,
      bringToEnd(deps, call, closed).finally(() => running.delete(id)),
    );
  };
  return {
    async take({ call_id, tool, arguments: args }) {
      // Judged in the turn of the append: calls that arrive while another is written are not in the state yet.
      const sequence = await log.appendMade(() => {
        if (closed.aborted) throw new Stopped();
        if (log.state.signed.size >= pendingMax) throw containerBusy(`${pendingMax} signed calls wait already`);
        requireRoom(log.state, args, room);
        return { kind: 'signed_call', call_id, tool, arguments: args };
      });
      tell({ sequence });
      const call = log.state.signed.get(call_id);
      if (call !== undefined) begin(call);
      return sequence;
    },
    resume: () => [...log.state.signed.values()].forEach(begin),
    ended: async () => void (await Promise.all(running.values())),
  };
}

/** Never rejects: a call that cannot be ended here is ended by the next driver. */
async function bringToEnd(deps: ConversationDeps, call: SignedUnderWay, closed: AbortSignal): Promise<void> {
  const { call_id, tool } = call;
  try {
    const answered = await answerOf(deps, call, closed).catch((error: unknown) => {
      if (closed.aborted || isMoving(error)) throw error;
      return endedBy(deps, call, error);
    });
    const written = writtenEnd(deps, { id: call_id, tool, args: call.arguments as ToolArguments }, answered);
    await record(deps, { kind: 'signed_ended', call_id, tool, ...written });
  } catch (error) {
    if (closed.aborted || isMoving(error)) return;
    deps.logger.warn({ err: error, call: call_id, tool }, 'signed call interrupted');
  }
}

/** An error without a record would leave the call under way for good: its caller waits, and takes the place of others. */
function endedBy({ log, logger }: ConversationDeps, { call_id, tool }: SignedUnderWay, error: unknown): Answered {
  logger.warn({ err: error, call: call_id, tool }, 'signed call failed');
  const given = log.state.signed.get(call_id)?.dispatch;
  if (given !== undefined) return { answer: unknownOutcome, dispatch_id: given.dispatch_id };
  if (error instanceof AppError) return { answer: failure(error.reason, `${error.message}; nothing ran`) };
  return { answer: failure('InternalError', 'the call could not be made; nothing ran') };
}

/** The policy may have changed since the call was taken; a pod that has its command may have run it by then. */
async function answerOf(deps: ConversationDeps, call: SignedUnderWay, closed: AbortSignal): Promise<Answered> {
  const args = call.arguments as ToolArguments;
  const tool = await admit(deps, call, closed);
  if (isRefusal(tool)) {
    const { dispatch: given } = call;
    if (given !== undefined) return { answer: unknownOutcome, dispatch_id: given.dispatch_id };
    return { answer: failure(tool.code, tool.message) };
  }
  const { run } = tool;
  if (run.kind !== 'pod') return { answer: failure('NOT_AVAILABLE', `${call.tool} runs in no container`) };
  const { caller } = deps;
  const { tenant, executionId } = caller;
  using permit = createBeginPermit(deps, { tenant, execution_id: executionId });
  const onLost = (error: unknown) => lostAnswer(deps, { id: call.call_id, tool: call.tool }, error);
  const answered = await answerByPod({ run, caller, args, onLost }, (plan) =>
    dispatch(deps, { call, permit, wanted: { callId: call.call_id, plan, isIdempotent: tool.idempotent } }, closed),
  );
  return answered ?? { answer: permit.isRefused ? failure('SessionRevoked', revoked) : failure('ContainerBusy', busy) };
}

async function admit({ toolbox, callerNow }: ConversationDeps, call: SignedUnderWay, closed: AbortSignal) {
  // The driver waits for the end of this before it lets the conversation go, and a read of the policy may be slow.
  const ended = Promise.withResolvers<never>();
  const off = onAbort(closed, () => ended.reject(new Stopped()));
  try {
    return toolbox.admit(await Promise.race([callerNow(closed), ended.promise]), call.tool, call.arguments);
  } catch (error) {
    if (!hasReason(error, 'SecurityContextNotFound')) throw error;
    return { kind: 'policy', code: error.reason, message: error.message } as const;
  } finally {
    off();
  }
}

const revoked = 'the session of the call was revoked before its command began; nothing ran';

const busy = `the container asked for no command in ${patienceMs / 1_000} s; nothing ran; call again later`;

interface Dispatched {
  readonly call: SignedUnderWay;
  readonly permit: BeginPermit;
  readonly wanted: Parameters<ConversationDeps['channel']['dispatch']>[0];
}

/**
 * Undefined where the pod did not ask in time, since a command that makes a signed call itself would wait for itself, and where
 * the session was revoked before.
 */
async function dispatch(deps: ConversationDeps, { call, permit, wanted }: Dispatched, closed: AbortSignal) {
  const { clock, channel } = deps;
  const left = Date.parse(call.at) + patienceMs - clock.now();
  const isGivenBefore = call.dispatch !== undefined;
  if (left <= 0 && !isGivenBefore) return undefined;
  using patience = startDeadline(clock, Math.max(left, 0));
  const over = new AbortController();
  const giveUp = (): void => over.abort();
  if (!isGivenBefore) patience.signal.addEventListener('abort', giveUp, { once: true });
  const onGiven = (): void => patience.signal.removeEventListener('abort', giveUp);
  const off = onAbort(closed, giveUp);
  const mayBegin = async (): Promise<boolean> => {
    const isPermitted = await permit.ask();
    if (!isPermitted) giveUp();
    return isPermitted;
  };
  try {
    return await channel.dispatch({ ...wanted, mayBegin, onGiven }, over.signal);
  } catch (error) {
    const given = deps.log.state.signed.get(call.call_id)?.dispatch;
    // A pod that asks again may have the command.
    if (permit.isRefused && given !== undefined) return { dispatch_id: given.dispatch_id };
    if (over.signal.aborted && !closed.aborted) return undefined;
    throw error;
  } finally {
    off();
  }
}
