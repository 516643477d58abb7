import { type Clock, systemClock } from '../../lib/clock.ts';

/** Longer than any test. */
const tooLongMs = 300_000;

/** A clock on which sleeps of these lengths last until they are passed, however fast or busy the machine is. */
export function holdSleeps(clock: Clock, ...lengths: readonly number[]) {
  const gates = new Map(lengths.map((ms) => [ms, Promise.withResolvers<void>()]));
  const sleep: Clock['sleep'] = (ms, signal) => {
    const gate = gates.get(ms);
    if (gate === undefined) return clock.sleep(ms, signal);
    return Promise.race([gate.promise, systemClock.sleep(tooLongMs, signal)]);
  };
  return {
    clock: { ...clock, sleep },
    /** Ends the sleeps of this length that have begun; later ones last until the next time. */
    pass: (ms: number): void => {
      gates.get(ms)?.resolve();
      gates.set(ms, Promise.withResolvers<void>());
    },
  };
}
