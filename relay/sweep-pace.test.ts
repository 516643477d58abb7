import { expect, it } from 'vitest';
import { createSweepPace, createWaves } from './sweep-pace.ts';

/** Seconds after the start at which a sweep was due, where so many streams begin in each second. */
function sweeps(seconds: number, beginIn: (second: number) => number): number[] {
  let [now, arrivals] = [0, 0];
  const waves = createWaves({ clock: { steadyMs: () => now }, arrivals: () => arrivals });
  const pace = createSweepPace({ clock: { steadyMs: () => now }, staleMs: 90_000 });
  const due: number[] = [];
  for (let second = 1; second <= seconds; second += 1) {
    now = second * 1_000;
    arrivals += beginIn(second);
    if (pace.isDue(waves.isComing())) due.push(second);
  }
  return due;
}

it('sweeps every 30 s while few streams begin', () => {
  expect(sweeps(100, () => 0)).toEqual([30, 60, 90]);
  expect(sweeps(100, () => 4)).toEqual([30, 60, 90]);
});

it('waits while a fleet comes back, and for those of it that try again, and then sweeps', () => {
  expect(sweeps(125, (second) => (second <= 50 ? 100 : 0))).toEqual([84, 114]);
  // Between two attempts of those whom a full listener has turned away is half a minute.
  const inTwoWaves = (second: number): number => (second <= 10 || (second > 30 && second <= 40) ? 500 : 0);
  expect(sweeps(80, inTwoWaves)).toEqual([74]);
});

it('AMB-096 waits for no longer than the silence that makes a host Unhealthy', () => {
  expect(sweeps(200, () => 100)).toEqual([90, 180]);
});
