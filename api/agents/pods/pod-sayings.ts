import { hash } from 'node:crypto';
import { aborted } from '../../../lib/aborted.ts';
import { conversationLimits } from '../../../lib/conversation/limits.ts';
import { bytesOf, type ConversationState } from '../../../lib/conversation/state.ts';
import { AppError } from '../../../lib/errors.ts';
import type { ConversationDeps } from '../conversation/conversation-deps.ts';
import { isMoving } from '../conversation/log.ts';
import type { Room } from '../drivers/room.ts';

/** Texts of a `generate` request: its messages, then its prompt (ADR 0105). */
export interface PodSaying {
  readonly iteration: number;
  readonly texts: readonly string[];
}

interface Hearing {
  readonly room: Pick<Room, 'fits'>;
  /** Aborts when the pod waits no more: a saying whose turn has not come by then is not written. */
  readonly signal: AbortSignal;
}

/**
 * Writes down what the pod says, for the next question to the model. The same again changes nothing: a pod repeats its request
 * where it got no answer, and a new pod begins with that of the old one. Resolves without that where `signal` aborts first.
 * @throws AppError `limit_exceeded` where the execution has heard enough; `unavailable` where there is no room for now.
 */
export async function hear(
  { log, tell }: Pick<ConversationDeps, 'log' | 'tell'>,
  { iteration, texts }: PodSaying,
  { room, signal }: Hearing,
): Promise<void> {
  if (texts.length === 0) return;
  const key = hash('sha256', JSON.stringify([iteration, texts]));
  // Judged in the turn of the append: another saying of the execution may be before it.
  const write = async (): Promise<void> => {
    const sequence = await log.appendMade(() => {
      const { state } = log;
      if (signal.aborted || state.podSaid.has(key) || state.result !== undefined) return undefined;
      requireRoom(state, texts, room);
      return { kind: 'pod_said', key, iteration, texts };
    });
    if (sequence !== undefined) tell({ sequence });
  };
  try {
    await Promise.race([write(), aborted(signal)]);
  } catch (error) {
    if (!isMoving(error)) throw error;
    throw new AppError('unavailable', 'the conversation moves; send it again', { cause: error });
  }
}

function requireRoom(state: ConversationState, texts: readonly string[], room: Pick<Room, 'fits'>): void {
  const { bytes, podSaid, signedBytes } = state;
  const { podSayings, heldBytes } = conversationLimits;
  if (podSaid.size >= podSayings) {
    const message = `the pod has said something new ${podSayings} times; send prompt and messages that it sent before, or none`;
    throw new AppError('limit_exceeded', message, { reason: 'TooManyMessages' });
  }
  const needed = texts.reduce((sum, content) => sum + bytesOf({ role: 'user', content }), bytes);
  if (needed > heldBytes) {
    const message = `the conversation would hold more than ${heldBytes / 1_048_576} MiB; send a shorter prompt and fewer messages`;
    throw new AppError('limit_exceeded', message, { reason: 'ConversationTooLarge' });
  }
  if (!room.fits(needed + signedBytes))
    throw new AppError('unavailable', 'the replica has no room for more text; send it again');
}
