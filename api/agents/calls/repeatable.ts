import { isIdentityRefused } from '../../../lib/kube/index.ts';
import { onAbort } from '../../../lib/on-abort.ts';
import { doublingWhile, tryPaced } from '../../../lib/retry.ts';
import type { ConversationDeps } from '../conversation/conversation-deps.ts';

/** Pauses while the API server refuses the identity of this replica. */
const refusedPauses = { baseMs: 100, maxMs: 5_000 } as const;

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

/**
 * As `repeatable`, for work that Kubernetes does: again for as long as the API server refuses the identity of this replica.
 * A replica whose pod was deleted waits so until it ends, and the next driver does the work.
 */
export function repeatableAsOurselves<T>(
  deps: Pick<ConversationDeps, 'giveUp' | 'clock'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const pauseAfter = doublingWhile(refusedPauses, isIdentityRefused);
  return repeatable(deps, signal, (until) =>
    tryPaced({ clock: deps.clock, pauseAfter, signal: until }, () => work(until)),
  );
}
