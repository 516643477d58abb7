import { onAbort } from '../../lib/on-abort.ts';
import type { ConversationDeps } from './conversation-deps.ts';

/**
 * The outcome of work that the next driver does anew where this one gives it up. Work that does not heed its signal is
 * left alone then.
 * @throws the reason of `signal` or of `giveUp` where one of them aborts, and what `work` throws.
 */
export async function repeatable<T>(
  { giveUp }: Pick<ConversationDeps, 'giveUp'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  giveUp.throwIfAborted();
  const { promise: given, reject } = Promise.withResolvers<never>();
  const off = onAbort(giveUp, () => reject(giveUp.reason));
  try {
    return await Promise.race([given, work(AbortSignal.any([signal, giveUp]))]);
  } catch (error) {
    signal.throwIfAborted();
    giveUp.throwIfAborted();
    throw error;
  } finally {
    off();
  }
}
