import { expect } from 'vitest';
import { createCache, type IndexFunction } from '../../../lib/informer/index.ts';
import type { KubeObject } from '../../../lib/kube/index.ts';
import { collectGarbage } from '../../../lib/process/collect-garbage.ts';

/** Bytes of heap that a cache of so many objects keeps, once what they were made from is gone. */
export function keptBytes<T extends KubeObject>(
  count: number,
  object: T,
  slim: (object: T) => T,
  indexes: Readonly<Record<string, IndexFunction<T>>> = {},
): number {
  const text = JSON.stringify(object);
  return keptBytesOf(count, () => text, slim, indexes);
}

/**
 * The same for objects that differ by more than their names: `textOf` gives the JSON of each. V8 keeps one copy of names of
 * fields that objects have in common.
 */
export function keptBytesOf<T extends KubeObject>(
  count: number,
  textOf: (index: number) => string,
  slim: (object: T) => T,
  indexes: Readonly<Record<string, IndexFunction<T>>> = {},
): number {
  const cache = createCache<T, string>({ indexes });
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < count; index++) {
    // As from a watch: each with texts of its own.
    const { metadata, ...rest } = JSON.parse(textOf(index)) as T;
    const ids = { name: `x${index}`, namespace: 'tenant-a', uid: `u${index}`, resourceVersion: '7' };
    cache.apply({ type: 'ADDED', object: slim({ ...rest, metadata: { ...metadata, ...ids } } as unknown as T) });
  }
  collectGarbage();
  const kept = process.memoryUsage().heapUsed - before;
  expect(cache.get(`tenant-a/x${count - 1}`)).toBeDefined();
  return kept;
}
