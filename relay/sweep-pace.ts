interface SweepPaceDeps {
  /** Milliseconds that never step. */
  readonly steadyMs: () => number;
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
 * A sweep every 30 s. It waits while a fleet comes back, and until those who were turned away have tried again: it would write the
 * hosts that are still in line as Disconnected, and soon after as Connected. It waits until the silence that makes a host
 * Unhealthy at the most (spec 2 §3).
 */
export function createSweepPace({ steadyMs, staleMs }: SweepPaceDeps): SweepPace {
  let last = steadyMs();
  return {
    isDue(isComing) {
      const now = steadyMs();
      const waited = now - last;
      if (waited < sweepMs || (isComing && waited < staleMs)) return false;
      last = now;
      return true;
    },
  };
}
