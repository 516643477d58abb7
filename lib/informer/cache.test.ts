import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kube/index.ts';
import { type Cache, createCache } from './cache.ts';
import { compareResourceVersions } from './resource-version.ts';

interface Thing extends KubeObject {
  readonly note?: string;
}

function thing(name: string, version: number | string, rest: { uid?: string; note?: string } = {}): Thing {
  return {
    metadata: { namespace: 'a', name, uid: rest.uid ?? `uid-${name}`, resourceVersion: String(version) },
    note: rest.note,
  };
}

const added = (object: Thing) => ({ type: 'ADDED' as const, object });
const deleted = (object: Thing) => ({ type: 'DELETED' as const, object });
const bookmark = (version: number) => ({
  type: 'BOOKMARK' as const,
  object: { metadata: { resourceVersion: String(version) } },
});
const versionOf = (cache: Cache<Thing>, name = 'x') => cache.get(`a/${name}`)?.metadata.resourceVersion;

describe('compareResourceVersions', () => {
  it.each([
    ['9', '10', -1],
    ['10', '9', 1],
    ['10', '10', 0],
    ['18446744073709551615', '18446744073709551616', -1],
    [undefined, '1', -1],
    [undefined, undefined, 0],
  ])('%s against %s', (a, b, want) => expect(Math.sign(compareResourceVersions(a, b))).toBe(want));
});

describe('what the watch delivers', () => {
  it('older and repeated versions are dropped', () => {
    const cache = createCache<Thing>();
    expect(cache.apply(added(thing('x', 9)))).toHaveLength(1);
    expect(cache.apply(added(thing('x', 10)))).toMatchObject([{ key: 'a/x', own: false }]);
    expect(cache.apply(added(thing('x', 10)))).toEqual([]);
    expect(cache.apply(added(thing('x', 9)))).toEqual([]);
    expect(versionOf(cache)).toBe('10');
  });

  it('a list removes what it does not hold and reports only differences', () => {
    const cache = createCache<Thing>();
    cache.replaceAll([thing('x', 1), thing('y', 2), thing('z', 3)], '3');
    const changes = cache.replaceAll([thing('y', 2), thing('z', 5)], '6');
    expect(
      changes.map(({ key, before, after }) => [key, before?.metadata.resourceVersion, after?.metadata.resourceVersion]),
    ).toEqual([
      ['a/x', '1', undefined],
      ['a/z', '3', '5'],
    ]);
  });

  it('a list with lower versions is believed, as after a restored backup', () => {
    const cache = createCache<Thing>();
    cache.replaceAll([thing('x', 900)], '1000');
    expect(cache.replaceAll([thing('x', 5)], '6')).toHaveLength(1);
    expect(cache.apply(added(thing('x', 7)))).toHaveLength(1);
    expect(versionOf(cache)).toBe('7');
  });

  it('the late end of an earlier incarnation leaves the present one alone', () => {
    const cache = createCache<Thing>();
    cache.apply(added(thing('x', 1, { uid: 'old' })));
    cache.remember(thing('x', 5, { uid: 'new' }));
    expect(cache.apply(deleted(thing('x', 3, { uid: 'old' })))).toEqual([]);
    expect(cache.get('a/x')?.metadata.uid).toBe('new');
    expect(cache.getByUid('old')).toBeUndefined();
  });
});

describe('our own writes', () => {
  it('are read at once, and stay until the watch has come as far', () => {
    const cache = createCache<Thing>();
    cache.apply(added(thing('x', 5)));
    cache.remember(thing('x', 8, { note: 'ours' }));
    expect(cache.get('a/x')?.note).toBe('ours');
    cache.apply(bookmark(6));
    expect(versionOf(cache)).toBe('8');
    expect(cache.apply(added(thing('x', 8, { note: 'ours' })))).toMatchObject([{ own: true }]);
    expect(cache.apply(added(thing('x', 9)))).toMatchObject([{ own: false }]);
  });

  it('are known until the watch has brought them, which takes no more than their metadata', () => {
    const cache = createCache<Thing>();
    const known = (version: number) => ({ type: 'KNOWN' as const, object: thing('x', version) });
    cache.apply(added(thing('x', 5)));
    for (const version of [7, 9]) cache.remember(thing('x', version, { note: `ours ${version}` }));
    expect([5, 6, 7, 8, 9, 10].filter((version) => cache.isOwn(thing('x', version)))).toEqual([7, 9]);
    expect(cache.isOwn(thing('y', 7))).toBe(false);
    expect(cache.apply(known(7))).toEqual([]);
    expect(cache.apply(known(9))).toMatchObject([{ own: true, after: { note: 'ours 9' } }]);
    expect(cache.isOwn(thing('x', 9))).toBe(false);
    expect(cache.apply(known(9))).toEqual([]);
    cache.remember(thing('x', 9, { note: 'late' }));
    expect(cache.get('a/x')?.note).toBe('ours 9');
  });

  it('a version of another writer that lies before ours still wakes its readers', () => {
    const cache = createCache<Thing>();
    cache.apply(added(thing('x', 5)));
    cache.remember(thing('x', 7));
    cache.remember(thing('x', 9));
    expect(cache.apply(added(thing('x', 6)))).toMatchObject([
      { own: false, after: { metadata: { resourceVersion: '9' } } },
    ]);
    expect(cache.apply(added(thing('x', 7)))).toEqual([]);
    expect(cache.apply(added(thing('x', 8)))).toMatchObject([{ own: false }]);
    expect(cache.apply(added(thing('x', 9)))).toMatchObject([{ own: true }]);
  });

  it('an answer that comes after the watch has passed it does not bring a deleted object back', () => {
    const cache = createCache<Thing>();
    cache.replaceAll([], '4');
    cache.apply(added(thing('x', 5)));
    cache.apply(deleted(thing('x', 6)));
    cache.remember(thing('x', 5));
    expect(cache.get('a/x')).toBeUndefined();
    cache.remember(thing('x', 6));
    expect(cache.get('a/x')).toBeUndefined();
    cache.remember(thing('x', 7));
    expect(versionOf(cache)).toBe('7');
  });

  it('an older answer of ours does not replace a newer one', () => {
    const cache = createCache<Thing>();
    cache.remember(thing('x', 9));
    cache.remember(thing('x', 8));
    expect(versionOf(cache)).toBe('9');
  });

  it('survive one list that began before them, but not a second', () => {
    const cache = createCache<Thing>();
    cache.remember(thing('x', 9));
    expect(cache.replaceAll([], '8')).toEqual([]);
    expect(versionOf(cache)).toBe('9');
    expect(cache.replaceAll([], '8')).toMatchObject([{ key: 'a/x', after: undefined }]);
  });
});

describe('indexes', () => {
  it('follow the objects and forget empty values', () => {
    const cache = createCache<Thing, 'note'>({ indexes: { note: (object) => (object.note ? [object.note] : []) } });
    cache.apply(added(thing('x', 1, { note: 'red' })));
    cache.apply(added(thing('y', 2, { note: 'red' })));
    cache.apply(added(thing('x', 3, { note: 'blue' })));
    expect(cache.byIndex('note', 'red').map((object) => object.metadata.name)).toEqual(['y']);
    expect(cache.byIndex('note', 'blue').map((object) => object.metadata.name)).toEqual(['x']);
    expect(cache.getByUid('uid-y')?.metadata.name).toBe('y');
    cache.apply(deleted(thing('y', 4)));
    expect(cache.byIndex('note', 'red')).toEqual([]);
    expect(() => cache.byIndex('size' as 'note', 'x')).toThrow("no index 'size'");
  });
});

/** One object on a server, its history, and a cache that hears of it late, or through a new list. */
class World {
  readonly cache = createCache<Thing>();
  server: Thing | undefined;
  /** Version of the newest answer to a write of ours that the cache received. */
  answered = 0;
  #revision = 0;
  readonly #log: { type: 'ADDED' | 'DELETED'; object: Thing }[] = [];
  readonly #answers: Thing[] = [];
  #delivered = 0;

  constructor() {
    this.cache.replaceAll([], '0');
  }

  writeTheirs(): void {
    this.#revision += 1;
    this.server = thing('x', this.#revision, { uid: this.server?.metadata.uid ?? `uid-${this.#revision}` });
    this.#log.push(added(this.server));
  }

  writeOurs(): void {
    this.writeTheirs();
    if (this.server !== undefined) this.#answers.push(this.server);
  }

  remove(): void {
    if (this.server === undefined) return;
    this.#revision += 1;
    this.#log.push(
      deleted({ ...this.server, metadata: { ...this.server.metadata, resourceVersion: String(this.#revision) } }),
    );
    this.server = undefined;
  }

  deliver(count = 1): void {
    for (const event of this.#log.slice(this.#delivered, this.#delivered + count)) this.cache.apply(event);
    this.#delivered = Math.min(this.#log.length, this.#delivered + count);
  }

  list(): void {
    this.cache.replaceAll(this.server === undefined ? [] : [this.server], String(this.#revision));
    this.#delivered = this.#log.length;
  }

  answer(): void {
    const object = this.#answers.shift();
    if (object === undefined) return;
    this.cache.remember(object);
    this.answered = Math.max(this.answered, Number(object.metadata.resourceVersion));
  }

  /** The newest version that the cache knows of, by an object or by the event of its end. */
  get known(): number {
    return Math.max(Number(versionOf(this.cache) ?? 0), this.#delivered);
  }

  finish(): void {
    this.deliver(this.#log.length);
    for (let i = this.#answers.length; i > 0; i--) this.answer();
  }
}

const moves = ['writeTheirs', 'writeOurs', 'remove', 'deliver', 'list', 'answer'] as const;

it('property: reads are never older than our last answer, and in the end the cache is the server’s state', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...moves), { maxLength: 40 }), (plan) => {
      const world = new World();
      for (const move of plan) {
        world[move]();
        expect(world.known).toBeGreaterThanOrEqual(world.answered);
      }
      world.finish();
      expect(world.cache.get('a/x')).toEqual(world.server);
      expect(world.cache.size).toBe(world.server === undefined ? 0 : 1);
    }),
    { numRuns: 2_000 },
  );
});
