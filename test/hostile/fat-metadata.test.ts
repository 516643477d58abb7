import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { annotations, captureFinalizer, labels, outputsFinalizer } from '../../crds/labels.ts';
import { heapBytes } from '../../lib/heap-bytes.ts';
import { stripStrangers } from '../../lib/informer/index.ts';
import type { KubeObject, ObjectMeta } from '../../lib/kube/index.ts';
import { formerIdsText } from '../../lib/workflow-lookup/index.ts';

/**
 * The attacker fills the metadata of an object of ours up to the 1.5 MiB that etcd takes, under keys that begin like those
 * of Windlass, in finalizers or in owners. Every process keeps a version of every object.
 */
const identity = { name: 'fat', namespace: 'tenant-a', uid: 'u1', resourceVersion: '7' };
const keptBytes = 10 * 1024;
const many = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index));
const manyTexts = (count: number): Record<string, string> =>
  Object.fromEntries(many(count, (index) => [`windlass.dev/x${index}`, 'y']));
const slim = (metadata: ObjectMeta): ObjectMeta => stripStrangers<KubeObject>({ metadata }).metadata;
const owner = { apiVersion: 'windlass.dev/v1', kind: 'WorkflowExecution', name: 'parent', uid: 'p1' };

/** Readers of these two read them from the whole object. */
const readElsewhere: ReadonlySet<string> = new Set([annotations.given, annotations.webhookSources]);

const fat: [title: string, metadata: ObjectMeta][] = [
  ['50,000 labels of made-up names', { labels: manyTexts(50_000) }],
  ['10,000 annotations of made-up names', { annotations: manyTexts(10_000) }],
  ['an annotation of ours with 256 KiB', { annotations: { [annotations.formerIds]: 'x'.repeat(262_000) } }],
  ['40,000 finalizers', { finalizers: many(40_000, (index) => `example.org/f${index}`) }],
  ['15,000 owners', { ownerReferences: many(15_000, (index) => ({ ...owner, uid: `u${index}` })) }],
  [
    'an owner of a kind with 1.4 MB',
    { ownerReferences: [{ ...owner, kind: 'k'.repeat(1_400_000), controller: true }] },
  ],
  ['an owner of a uid with 1.4 MB', { ownerReferences: [{ ...owner, uid: `ж${'u'.repeat(1_400_000)}` }] }],
  ['ten owners of uids with 140 KB', { ownerReferences: many(10, () => ({ ...owner, uid: 'u'.repeat(140_000) })) }],
  [
    'every annotation of ours with 8 KiB',
    { annotations: Object.fromEntries(Object.values(annotations).map((key) => [key, 'x'.repeat(8_000)])) },
  ],
  ['a prefix of its name with 1.4 MB', { generateName: 'x'.repeat(1_400_000) }],
  ['field managers', { managedFields: many(10_000, () => ({ manager: 'x' })) }],
];

describe('an object with metadata of a stranger', () => {
  it.each(fat)('takes less than 10 KiB of a cache: %s', (_title, metadata) => {
    const kept = slim({ ...identity, ...metadata });
    expect(kept).toMatchObject(identity);
    expect(heapBytes(kept, 1e9)).toBeLessThan(keptBytes);
  });

  it('keeps every label, annotation, finalizer and owner that Windlass reads', () => {
    const ours: ObjectMeta = {
      ...identity,
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-02T00:00:00Z',
      labels: Object.fromEntries(Object.values(labels).map((key) => [key, 'value'])),
      annotations: Object.fromEntries(
        Object.values(annotations).flatMap((key) => (readElsewhere.has(key) ? [] : [[key, 'value']])),
      ),
      ownerReferences: [owner],
    };
    expect(slim(ours)).toEqual(ours);
  });

  const ofPod = { [annotations.state]: 's'.repeat(63), [annotations.step]: 't'.repeat(63) };
  it.each(Object.values(annotations).filter((key) => !Object.hasOwn(ofPod, key)))(
    'loses no mark of a step pod to a long value of %s (AMB-160)',
    (key) => {
      for (const length of [1, 8, 8_064, 8_065, 8_190, 8_191, 8_192, 8_193]) {
        const noted = { [key]: 'x'.repeat(length), ...ofPod };
        expect(slim({ ...identity, annotations: noted }).annotations).toMatchObject(ofPod);
      }
    },
  );

  it('loses no label of ours to the other labels of ours', () => {
    const all = Object.fromEntries(Object.values(labels).map((key) => [key, 'x'.repeat(63)]));
    expect(slim({ ...identity, labels: all }).labels).toEqual(all);
  });

  it.each([
    [annotations.state, 63],
    [annotations.volume, 126],
    [annotations.formerIds, 2_048],
  ])('keeps %s of %i characters and no longer one', (key, length) => {
    const kept = [length - 1, length, length + 1].map(
      (size) => slim({ ...identity, annotations: { [key]: 'x'.repeat(size) } }).annotations?.[key]?.length,
    );
    expect(kept).toEqual([length - 1, length, undefined]);
  });

  it('keeps the former ids of a workflow that has moved sixty times', () => {
    const ids = formerIdsText(many(60, () => randomUUID()));
    expect(slim({ ...identity, annotations: { [annotations.formerIds]: ids } }).annotations).toEqual({
      [annotations.formerIds]: ids,
    });
  });

  it('keeps the place of a finalizer of ours, which is what a patch removes it by', () => {
    const finalizers = ['example.org/a', captureFinalizer, 'example.org/b', outputsFinalizer];
    const kept = slim({ ...identity, finalizers }).finalizers ?? [];
    expect([captureFinalizer, outputsFinalizer].map((finalizer) => kept.indexOf(finalizer))).toEqual([1, 3]);
  });

  it.each([99, 100, 101, 40_000])('says that it holds a finalizer of ours behind %i of others', (before) => {
    const finalizers = [...many(before, (index) => `example.org/f${index}`), captureFinalizer];
    const kept = slim({ ...identity, finalizers }).finalizers;
    expect(kept).toContain(captureFinalizer);
    expect(kept?.length).toBeLessThanOrEqual(101);
  });

  it('says that a foreign controller owns it, whatever the controller is called', () => {
    const foreign = { ...owner, apiVersion: 'apps/v1', kind: 'k'.repeat(400), controller: true };
    expect(slim({ ...identity, ownerReferences: [foreign] }).ownerReferences).toMatchObject([{ controller: true }]);
  });
});
