import type { Clock } from './clock.ts';

interface Looks {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly ms: number;
  readonly everyMs: number;
  /** Whether the time is up for another reason as well. */
  readonly isOver?: () => boolean;
}

/** Looks until something is as it is wanted, or the time is up; `isWanted` tells which. @throws what `look` throws */
export async function lookUntil<T>(
  { clock, signal, ms, everyMs, isOver = () => false }: Looks,
  look: () => Promise<T>,
  wanted: (value: T) => boolean,
): Promise<{ readonly value: T; readonly isWanted: boolean }> {
  const until = clock.steadyMs() + ms;
  for (;;) {
    const value = await look();
    if (wanted(value)) return { value, isWanted: true };
    if (clock.steadyMs() >= until || isOver()) return { value, isWanted: false };
    await clock.sleep(Math.min(everyMs, until - clock.steadyMs()), signal);
  }
}
