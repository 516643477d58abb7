import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createHeapPace } from './small-heap.ts';
import { createWaves } from './sweep-pace.ts';

const run = promisify(execFile);

/** Collections of the old part of a heap while objects that outlive the nursery came and went. */
async function collections(...settings: readonly boolean[]): Promise<number> {
  const module = new URL('./small-heap.ts', import.meta.url).href;
  const code = `
    const { keepHeapSmall } = await import(${JSON.stringify(module)});
    for (const isSmall of ${JSON.stringify(settings)}) keepHeapSmall(isSmall);
    const live = Array.from({ length: 300_000 }, (_, i) => ({ a: i, b: [i, i, i], c: 'x' + i }));
    const ring = new Array(30_000);
    for (let i = 0; i < 3_000_000; i += 1) ring[i % ring.length] = { a: i, b: [i, i, i] };
    console.log(live.length);`;
  // Nothing beside the program takes part, so that the counts are nearly the same on a busy machine.
  const alone = ['--single-threaded-gc', '--no-incremental-marking'];
  const flags = [...alone, '--trace-gc', '--max-semi-space-size=4', '--max-old-space-size=768'];
  const { stdout } = await run(process.execPath, [...flags, '--input-type=module', '--eval', code]);
  return stdout.match(/Mark-Compact/g)?.length ?? 0;
}

it('a relay collects what its streams leave behind more often than V8 does by itself, until that is taken back', async () => {
  const [small, usual, again] = await Promise.all([collections(true), collections(), collections(true, false)]);
  expect(usual).toBeGreaterThan(0);
  expect(small).toBeGreaterThan(1.2 * usual);
  // V8 makes one collection more or less from run to run.
  expect(again).toBeLessThan((small + usual) / 2);
}, 60_000);

/** Seconds after the start from which on the heap was small, or not any more, where so many streams begin in each second. */
function settings(seconds: number, beginIn: (second: number) => number): [second: number, isSmall: boolean][] {
  let [now, arrivals] = [0, 0];
  const found: [number, boolean][] = [];
  const waves = createWaves({ clock: { steadyMs: () => now }, arrivals: () => arrivals });
  const look = createHeapPace((isSmall) => found.push([now / 1_000, isSmall]));
  for (let second = 1; second <= seconds; second += 1) {
    now = second * 1_000;
    arrivals += beginIn(second);
    look(waves.isComing());
  }
  return found;
}

it.each<[title: string, beginIn: (second: number) => number, found: [second: number, isSmall: boolean][]]>([
  ['half a minute after its start', () => 0, [[30, true]]],
  ['while 24 streams begin within six looks, which is no wave', (second) => (second % 6 === 0 ? 24 : 0), [[30, true]]],
  ['never while 25 do', (second) => (second % 6 === 0 ? 25 : 0), []],
  ['half a minute after the last of a fleet that comes back', (second) => (second <= 50 ? 100 : 0), [[84, true]]],
  [
    'until a fleet comes back, and again after it',
    (second) => (second >= 60 && second <= 70 ? 500 : 0),
    [
      [30, true],
      [60, false],
      [104, true],
    ],
  ],
])('a relay keeps its heap small %s', (_title, beginIn, found) => expect(settings(200, beginIn)).toEqual(found));
