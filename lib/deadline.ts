import { type Clock, systemClock } from './clock.ts';

/** A time limit and a caller's signal as one. Dispose of it when the call has ended: nothing of it stays behind. */
interface Deadline extends Disposable {
  /** Aborts when the time is up or the caller aborts, whichever comes first. */
  readonly signal: AbortSignal;
  leftMs(): number;
}

/** Whether the time of a deadline is up, rather than that its caller has gone. */
export const isTimeUp = ({ reason }: AbortSignal): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

/** Given as the reason, it spares the making of an error with its stack for a call that ended well. */
const disposed = 'disposed';

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
  const callOff = inTime(clock, timeoutMs, () => over.abort(new DOMException('the time is up', 'TimeoutError')));
  return {
    signal: over.signal,
    leftMs: () => until - performance.now(),
    [Symbol.dispose]() {
      outer?.removeEventListener('abort', abort);
      callOff();
    },
  };
}

/** A sleep has a promise, a signal and a listener beside its timer; a signed call has three deadlines. */
function inTime(clock: Clock, ms: number, task: () => void): () => void {
  if (clock.sleep === systemClock.sleep) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  }
  const ended = new AbortController();
  void clock.sleep(ms, ended.signal).then(() => {
    if (!ended.signal.aborted) task();
  });
  return () => ended.abort(disposed);
}
