import { describe, expect, it } from 'vitest';
import type { Volume } from '../crds/schema/volume.ts';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { createCache } from '../lib/informer/cache.ts';
import type { InformerChange } from '../lib/informer/index.ts';
import { anExecution } from '../test/builders/execution-builder.ts';
import { type Informers, volumeIndexes } from './informers.ts';
import { slimClaim } from './slim-objects.ts';
import { type Controllers, connect, createWaiting } from './wiring.ts';

describe('executions that wait', () => {
  const waitingFor = (names: Readonly<Record<string, readonly string[]>>) => {
    const waiting = createWaiting();
    for (const [name, keys] of Object.entries(names)) for (const key of keys) waiting.add(key, name);
    return waiting;
  };

  it('for a workflow of their own namespace are left alone by one of the same name elsewhere', () => {
    const waiting = waitingFor({ build: ['a/1', 'b/1', 'a/2'] });
    expect(waiting.take(['build'], 'c')).toEqual([]);
    expect(waiting.take(['build'], 'a')).toEqual(['a/1', 'a/2']);
    expect(waiting.take(['build'], 'a')).toEqual([]);
    expect(waiting.take(['build'], 'b')).toEqual(['b/1']);
  });

  it('are all taken by what every namespace sees, whichever of its names they wait for', () => {
    const waiting = waitingFor({ build: ['a/1', 'b/1'], uid: ['c/1'], other: ['a/2'] });
    expect(waiting.take(['build', 'uid', 'former'])).toEqual(['a/1', 'b/1', 'c/1']);
    expect(waiting.take(['build', 'uid'])).toEqual([]);
    expect(waiting.take(['other'])).toEqual(['a/2']);
  });

  it('are forgotten when they are gone', () => {
    const waiting = waitingFor({ build: ['a/1', 'a/2'], volume: ['a/1'] });
    waiting.forget('a/1');
    waiting.forget('a/3');
    expect(waiting.take(['build', 'volume'])).toEqual(['a/2']);
  });

  it.each([
    { what: 'goes', after: undefined, waits: [] },
    { what: 'ends', after: anExecution('x').ended('failed', 1).build(), waits: [] },
    { what: 'changes', after: anExecution('x').build(), waits: ['default/x'] },
  ])('are $waits after one that waited $what', ({ after, waits }) => {
    const waiting = waitingFor({ build: ['default/x'] });
    const silent = { onChange: () => undefined, cache: createCache() };
    const kinds = ['workflows', 'volumes', 'revisions', 'pods', 'claims', 'routers', 'tenants'];
    const tell: ((change: InformerChange<WorkflowExecution>) => void)[] = [];
    const informers = {
      ...Object.fromEntries(kinds.map((kind) => [kind, silent])),
      executions: { ...silent, onChange: (handler: (typeof tell)[number]) => tell.push(handler) },
    } as unknown as Informers;
    const controller = { queue: { add: () => undefined } };
    const names = ['workflows', 'executions', 'volumes', 'routers'];
    connect(informers, Object.fromEntries(names.map((name) => [name, controller])) as unknown as Controllers, waiting);
    for (const handler of tell) handler({ key: 'default/x', before: anExecution('x').build(), after, own: true });
    expect(waiting.take(['build'])).toEqual(waits);
  });
});

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
