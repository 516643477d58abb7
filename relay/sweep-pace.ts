import type { Clock } from '../lib/clock.ts';

interface SweepPaceDeps {
  readonly clock: Pick<Clock, 'steadyMs'>;
  /** After so long a sweep comes in any case: a host that was silent for more is Unhealthy. */
  readonly staleMs: number;
}

interface SweepPace {
  /** Called every second; true where the sweep is due. `isComing`: a fleet is (`Waves`). */
  isDue(isComing: boolean): boolean;
}

/** Daemons of a relay that was restarted are back by then, where they are not thousands. */
const sweepMs = 30_000;

/**
 * A sweep every 30 s. It waits while a fleet comes back, and until those who were turned away have tried again. Else it
 * would write the hosts that are still in line as Disconnected, and soon after as Connected. It waits until the silence
 * that makes a host Unhealthy at the most (spec 2 §3).
 */
export function createSweepPace({ clock, staleMs }: SweepPaceDeps): SweepPace {
  let last = clock.steadyMs();
  return {
    isDue(isComing) {
      const now = clock.steadyMs();
      const waited = now - last;
      if (waited < sweepMs || (isComing && waited < staleMs)) return false;
      last = now;
      return true;
    },
  };
}

interface WavesDeps {
  readonly clock: Pick<Clock, 'steadyMs'>;
  /** Streams that were begun so far. */
  readonly arrivals: () => number;
}

/** Whether many daemons connect at once, as those of a fleet do after the restart of a relay. */
interface Waves {
  /** Called every second; true until none came for half a minute. The relay itself starts with one. */
  isComing(): boolean;
}

/** So many streams that began within the last looks mean that a fleet is coming back. */
const wave = 25;
const looks = 6;
/** The longest pause of a daemon before it tries again; the kernel's own between two attempts to connect is 16 s. */
const lullMs = 30_000;

export function createWaves({ clock, arrivals }: WavesDeps): Waves {
  const counts: number[] = [];
  let last = clock.steadyMs();
  return {
    isComing() {
      const count = arrivals();
      counts.push(count);
      if (counts.length > looks) counts.shift();
      const now = clock.steadyMs();
      if (count - (counts[0] ?? count) >= wave) last = now;
      return now - last < lullMs;
    },
  };
}
