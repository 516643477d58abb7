import { onAbort } from './on-abort.ts';

/** Resolves when the signal aborts, at once if it already has. */
export function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => void onAbort(signal, () => resolve('aborted')));
}
