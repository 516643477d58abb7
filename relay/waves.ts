interface WavesDeps {
  /** Milliseconds that never step. */
  readonly steadyMs: () => number;
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

export function createWaves({ steadyMs, arrivals }: WavesDeps): Waves {
  const counts: number[] = [];
  let last = steadyMs();
  return {
    isComing() {
      const count = arrivals();
      counts.push(count);
      if (counts.length > looks) counts.shift();
      const now = steadyMs();
      if (count - (counts[0] ?? count) >= wave) last = now;
      return now - last < lullMs;
    },
  };
}
