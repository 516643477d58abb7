import { type Clock, systemClock } from '../../lib/clock.ts';

/** Sleeps take a tenth of their time: for tests of what comes behind a pause, and not of how long it lasts. */
export const fasterClock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 10, signal) };

/** Time passes ten times as fast, but for the time of day: also what is measured is over sooner. */
export const hurriedClock: Clock = { ...fasterClock, steadyMs: () => 10 * systemClock.steadyMs() };
