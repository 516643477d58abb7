import { AppError, messageOf, TerminalError, WaitError } from '../../lib/errors.ts';
import { isConflict, isForbidden, isNamespaceGone, isQuotaExceeded, isQuotaUncounted } from '../../lib/kube/index.ts';

/** Result of a reconcile: nothing, or when to look again and why. */
export type ReconcileResult = undefined | { readonly requeueAfterMs: number; readonly reason: string };

/** How one reconcile ended, as counted in metrics, and what the queue does with the key. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeue' | 'wait'; readonly afterMs: number; readonly reason: string }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'terminal'; readonly error: TerminalError }
  | { readonly kind: 'forbidden'; readonly error: unknown; readonly atLatestMs?: number | undefined }
  | { readonly kind: 'lost_leadership' }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Something is forbidden, and nothing that we watch will tell us when that changes. It is tried again ever more rarely,
 * but after `atLatestMs` at the latest.
 */
export class RefusedError extends AppError {
  override readonly name = 'RefusedError';
  readonly atLatestMs: number;

  constructor(cause: unknown, atLatestMs: number) {
    super('forbidden', messageOf(cause), { reason: 'Forbidden', cause });
    this.atLatestMs = atLatestMs;
  }
}

export function outcomeOfResult(result: ReconcileResult): Outcome {
  return result === undefined
    ? { kind: 'done' }
    : { kind: 'requeue', afterMs: result.requeueAfterMs, reason: result.reason };
}

/** The three ways to fail (terminal, wait, anything else) and the three that are no failure of the object. */
export function outcomeOfError(error: unknown): Outcome {
  if (error instanceof TerminalError) return { kind: 'terminal', error };
  if (error instanceof WaitError) return { kind: 'wait', afterMs: error.afterMs, reason: error.reason };
  if (isConflict(error)) return { kind: 'conflict' };
  if (isRefusal(error)) return { kind: 'forbidden', error, atLatestMs: atLatestOf(error) };
  if (error instanceof AppError && error.code === 'lost_leadership') return { kind: 'lost_leadership' };
  return { kind: 'failed', error };
}

/** A full quota is no refusal: it has room again when something ends, while only a person can grant a right. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RefusedError ||
  isNamespaceGone(error) ||
  (isForbidden(error) && !isQuotaExceeded(error) && !isQuotaUncounted(error));

const atLatestOf = (error: unknown): number | undefined =>
  error instanceof RefusedError ? error.atLatestMs : undefined;
