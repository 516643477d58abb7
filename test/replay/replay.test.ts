import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decide } from '../../controllers/execution/engine/decide.ts';
import { decided, factsOf, type Recording } from './recording.ts';

const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.json'));
const recordings = files.map((file) => JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Recording);

describe('recordings of released versions', () => {
  it('there are some, and each has decisions', () => {
    expect(recordings.length).toBeGreaterThan(5);
    for (const { decisions } of recordings) expect(decisions.length).toBeGreaterThan(0);
  });

  it.each(recordings)('WF-RUN-06 $name of $version is decided as it was then', ({ decisions }) => {
    for (const recorded of decisions) {
      const result = decide(factsOf(recorded), recorded.now);
      if (result.kind !== 'decision') throw new Error(`there was a decision, and now it is ${result.kind}`);
      expect(decided(result)).toEqual(recorded.decision);
    }
  });
});
