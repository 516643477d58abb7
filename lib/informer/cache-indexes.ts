import type { KubeObject } from '../kube/index.ts';

/** Values under which an object is found. Must be pure and depend on nothing but the object. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

/** Keys of a cache by uid and by the values of named indexes. */
export interface Indexes<T extends KubeObject, I extends string> {
  /** Accounts for one key's object going from `before` to `after`; absent means none. */
  move(key: string, before: T | undefined, after: T | undefined): void;
  keysOf(index: I, value: string): Iterable<string>;
  keysOfUid(uid: string): Iterable<string>;
}

type Table = Map<string, Set<string>>;

const none: readonly string[] = [];

/** Empty value sets are dropped at once, so indexes over uids of short-lived objects do not grow for ever. */
export function createIndexes<T extends KubeObject, I extends string>(
  functions: Readonly<Partial<Record<string, IndexFunction<T>>>> = {},
): Indexes<T, I> {
  const uids: Table = new Map();
  const tables = Object.entries(functions).map(([name, values]) => ({
    name,
    values: values ?? (() => none),
    table: new Map<string, Set<string>>(),
  }));
  const byName = new Map(tables.map(({ name, table }) => [name, table]));
  const all = [{ values: uidOf, table: uids }, ...tables];

  return {
    move(key, before, after) {
      for (const { values, table } of all) {
        if (before !== undefined) for (const value of values(before)) remove(table, value, key);
        if (after !== undefined) for (const value of values(after)) insert(table, value, key);
      }
    },
    keysOf(index, value) {
      const table = byName.get(index);
      if (table === undefined) throw new TypeError(`the cache has no index '${index}'`);
      return table.get(value) ?? none;
    },
    keysOfUid: (uid) => uids.get(uid) ?? none,
  };
}

function uidOf(object: KubeObject): readonly string[] {
  return object.metadata.uid === undefined ? none : [object.metadata.uid];
}

function insert(table: Table, value: string, key: string): void {
  const keys = table.get(value);
  if (keys === undefined) table.set(value, new Set([key]));
  else keys.add(key);
}

function remove(table: Table, value: string, key: string): void {
  const keys = table.get(value);
  keys?.delete(key);
  if (keys?.size === 0) table.delete(value);
}
