import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createManifestReader } from '../../lib/manifest/index.ts';
import { freshGenes, mutatedGenes } from './support/candidates.ts';
import { type Found, play } from './support/play.ts';
import { turnMs } from './support/turns.ts';

/** How long to search; `WORST_CASE_SECONDS=600` is the long search, and `WORST_CASE_SHOW=1` prints the dearest. */
const seconds = Number(process.env['WORST_CASE_SECONDS'] ?? 15);
const seed = Number(process.env['WORST_CASE_SEED'] ?? Date.now() % 2 ** 31);

const workerUrl = new URL('../../lib/manifest/manifest-worker.ts', import.meta.url);
const manifests = createManifestReader({ clock: systemClock, workerUrl, timeoutMs: 60_000 });
// A thread loads its modules with the first text, which must not count.
beforeAll(() => manifests.read('', 'eve'), 60_000);
afterAll(() => manifests.close());

describe('an attacker who may make any legal workflow, input, output, answer and manifest', () => {
  it(
    `finds none that takes a turn of more than ${turnMs} ms, or never ends (seed ${seed}, ${seconds} s)`,
    async () => {
      const until = performance.now() + seconds * 1_000;
      let dearest: readonly Found[] = [];
      for (let at = 0; performance.now() < until; at += 1) {
        const parent = dearest[at % Math.max(1, dearest.length)];
        const isFresh = parent === undefined || at % 3 === 0;
        const candidate = isFresh ? freshGenes(seed + at) : mutatedGenes(parent.genes, at, seed + at);
        const found = await play(candidate, manifests);
        const isFine = found.problem === undefined && found.ms < turnMs;
        // The whole candidate, for the report of a failure cuts deep objects.
        expect(isFine ? '' : JSON.stringify({ seed, at, ...found })).toBe('');
        dearest = [...dearest, found].toSorted((left, right) => right.ms - left.ms).slice(0, 8);
      }
      if (process.env['WORST_CASE_SHOW'] !== undefined)
        process.stdout.write(`${dearest.map((found) => JSON.stringify(found)).join('\n')}\n`);
      expect(dearest.length).toBeGreaterThan(0);
    },
    (seconds + 120) * 1_000,
  );
});
