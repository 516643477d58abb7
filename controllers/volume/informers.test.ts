import { describe, expect, it } from 'vitest';
import type { Volume } from '../../crds/schema/volume.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { slimClaim, volumeIndexes } from './informers.ts';

describe('a claim', () => {
  const volume = (name: string, claim?: string): Volume =>
    ({ metadata: { namespace: 'a', name }, spec: claim === undefined ? {} : { claim_name: claim } }) as Volume;

  it('finds the volumes that name it in an index, and no other volume is looked at', () => {
    const cache = createCache<Volume, 'claim'>({ indexes: volumeIndexes });
    for (const one of [volume('x', 'data'), volume('y', 'data'), volume('z', 'other'), volume('data')]) {
      cache.apply({ type: 'ADDED', object: one });
    }
    const found = cache.byIndex('claim', 'a/data').map(({ metadata }) => metadata.name);
    expect(found).toEqual(['x', 'y']);
    expect(cache.byIndex('claim', 'b/data')).toEqual([]);
  });

  it('is kept without what other people wrote on it', () => {
    const annotations = { note: 'x'.repeat(100_000) };
    const metadata = { name: 'data', namespace: 'a', uid: 'u', resourceVersion: '3', annotations, labels: annotations };
    const kept = slimClaim({ metadata, spec: { volumeName: 'pv' }, status: { phase: 'Bound', capacity: {} } });
    expect(JSON.stringify(kept).length).toBeLessThan(300);
    expect(kept).toMatchObject({ metadata: { name: 'data', uid: 'u' }, status: { phase: 'Bound' } });
  });
});
