import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import { createCache, type IndexFunction } from '../../../lib/informer/index.ts';
import type { KubeObject } from '../../../lib/kube/index.ts';

// One collection frees all that nothing refers to. The one that programs use repeats itself, to give back what it can.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Objects that are made: a cache takes as much for each of more, which is counted. */
const mostMade = 100;

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
  // The first objects compile, which must not count.
  fill(createCache<T, string>({ indexes }), 2, textOf, slim);
  const made = Math.min(count, mostMade);
  const cache = createCache<T, string>({ indexes });
  collect();
  const before = process.memoryUsage().heapUsed;
  fill(cache, made, textOf, slim);
  collect();
  const kept = process.memoryUsage().heapUsed - before;
  expect(cache.get(`tenant-a/x${made - 1}`)).toBeDefined();
  return (kept * count) / made;
}

function fill<T extends KubeObject>(
  cache: Pick<ReturnType<typeof createCache<T, string>>, 'apply'>,
  count: number,
  textOf: (index: number) => string,
  slim: (object: T) => T,
): void {
  for (let index = 0; index < count; index++) {
    // As from a watch: each with texts of its own.
    const { metadata, ...rest } = JSON.parse(textOf(index)) as T;
    const ids = { name: `x${index}`, namespace: 'tenant-a', uid: `u${index}`, resourceVersion: '7' };
    cache.apply({ type: 'ADDED', object: slim({ ...rest, metadata: { ...metadata, ...ids } } as unknown as T) });
  }
}
