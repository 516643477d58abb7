import { type Clock, runAfter } from './clock.ts';

/** A time limit and a caller's signal as one. Dispose of it when the call has ended: nothing of it stays behind. */
interface Deadline extends Disposable {
  /** Aborts when the time is up or the caller aborts, whichever comes first. */
  readonly signal: AbortSignal;
  leftMs(): number;
}

/** Whether the time of a deadline is up, rather than that its caller has gone. */
export const isTimeUp = ({ reason }: AbortSignal): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

/**
 * `AbortSignal.timeout` would do, but its timer lives on until it fires: thousands of them at a few hundred requests
 * a second.
 */
export function startDeadline(clock: Clock, timeoutMs: number, outer?: AbortSignal): Deadline {
  const over = new AbortController();
  const until = performance.now() + timeoutMs;
  const abort = (): void => over.abort(outer?.reason);
  if (outer?.aborted) abort();
  outer?.addEventListener('abort', abort, { once: true });
  const callOff = runAfter(clock, timeoutMs, () => over.abort(new DOMException('the time is up', 'TimeoutError')));
  return {
    signal: over.signal,
    leftMs: () => until - performance.now(),
    [Symbol.dispose]() {
      outer?.removeEventListener('abort', abort);
      callOff();
    },
  };
}
