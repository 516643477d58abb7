import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** Collections of the old part of a heap while objects that outlive the nursery came and went. */
async function collections(isSmall: boolean): Promise<number> {
  const module = new URL('./small-heap.ts', import.meta.url).href;
  const code = `
    const { keepHeapSmall } = await import(${JSON.stringify(module)});
    if (${isSmall}) keepHeapSmall();
    const live = Array.from({ length: 300_000 }, (_, i) => ({ a: i, b: [i, i, i], c: 'x' + i }));
    const ring = new Array(30_000);
    for (let i = 0; i < 3_000_000; i += 1) ring[i % ring.length] = { a: i, b: [i, i, i] };
    console.log(live.length);`;
  // Nothing beside the program takes part, so that the counts are the same on a busy machine.
  const alone = ['--single-threaded-gc', '--no-incremental-marking'];
  const flags = [...alone, '--trace-gc', '--max-semi-space-size=4', '--max-old-space-size=768'];
  const { stdout } = await run(process.execPath, [...flags, '--input-type=module', '--eval', code]);
  return stdout.match(/Mark-Compact/g)?.length ?? 0;
}

it('a relay collects what its streams leave behind more often than V8 does by itself', async () => {
  const [small, usual] = await Promise.all([collections(true), collections(false)]);
  expect(usual).toBeGreaterThan(0);
  expect(small).toBeGreaterThan(1.2 * usual);
}, 60_000);
