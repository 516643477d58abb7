import type { Clock } from '../clock.ts';

/** Ends a watch whose connection died without a word. */
interface Watchdog extends Disposable {
  /** Aborts when the stream went silent, and with the signal the watchdog was made with. */
  readonly signal: AbortSignal;
  /** Something came. */
  alive(bookmark: boolean): void;
}

interface WatchdogOptions {
  readonly signal: AbortSignal;
  /** After this time the server ends the stream by itself. */
  readonly longestMs: number;
}

/** Time that a server may take beyond the requested end. */
const graceMs = 30_000;
/** A server that sends bookmarks does so about once a minute, changes or not: two missing ones mean it is gone. */
const bookmarkSilenceMs = 150_000;

/**
 * Until the first bookmark, silence is no sign of anything but the end of the watch's own time; from then on two
 * and a half minutes of it are.
 */
export function createWatchdog(clock: Clock, { signal, longestMs }: WatchdogOptions): Watchdog {
  const silent = new AbortController();
  const over = new AbortController();
  const stop = (): void => over.abort();
  let limitMs = longestMs + graceMs;
  let last = clock.steadyMs();
  signal.addEventListener('abort', stop, { once: true });

  async function guard(): Promise<void> {
    while (!over.signal.aborted) {
      const leftMs = last + limitMs - clock.steadyMs();
      if (leftMs <= 0) return silent.abort();
      await clock.sleep(Math.min(leftMs, bookmarkSilenceMs), over.signal);
    }
  }
  void guard();

  return {
    signal: AbortSignal.any([signal, silent.signal]),
    alive(bookmark) {
      last = clock.steadyMs();
      if (bookmark) limitMs = bookmarkSilenceMs;
    },
    [Symbol.dispose]() {
      signal.removeEventListener('abort', stop);
      over.abort();
    },
  };
}
