import type { Clock } from './clock.ts';

interface Looks {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly ms: number;
  readonly everyMs: number;
  /** Whether the time is up for another reason as well. */
  readonly isOver?: () => boolean;
}

interface Seen<T> {
  readonly value: T;
  readonly isWanted: boolean;
}

/**
 * Looks until something is as it is wanted, or the time is up; `isWanted` tells which. Between two looks it holds nothing of
 * what the first one gave. @throws what `look` throws
 */
export async function lookUntil<T>(
  { clock, signal, ms, everyMs, isOver = () => false }: Looks,
  look: () => Promise<T>,
  wanted: (value: T) => boolean,
): Promise<Seen<T>> {
  const until = clock.steadyMs() + ms;
  // A variable of the loop would hold the value over the pause.
  const lookOnce = async (): Promise<Seen<T> | undefined> => {
    const value = await look();
    if (wanted(value)) return { value, isWanted: true };
    return clock.steadyMs() >= until || isOver() ? { value, isWanted: false } : undefined;
  };
  for (;;) {
    const last = await lookOnce();
    if (last !== undefined) return last;
    await clock.sleep(Math.min(everyMs, until - clock.steadyMs()), signal);
  }
}
