import type { JSONWebKeySet } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeKey, type TestKey } from '../../test/support/keys.ts';
import { createManualClock, type ManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createKeySet, type KeySet } from './key-set.ts';

const TTL = 300_000;
const GRACE = 60_000;

let a: TestKey;
let b: TestKey;
beforeAll(async () => {
  [a, b] = await Promise.all([makeKey('ES256', 'a'), makeKey('ES256', 'b')]);
});

/** Keys whose publication the test decides. `fetches` holds the time of each fetch. */
interface World {
  readonly clock: ManualClock;
  readonly keys: KeySet;
  readonly fetches: number[];
  published: TestKey[] | 'down';
  /** While set, a fetch waits for it. */
  slow: Promise<void> | undefined;
}

function world(published: TestKey[] | 'down' = [a]): World {
  const clock = createManualClock(1_000_000);
  const fetches: number[] = [];
  const load = async (): Promise<JSONWebKeySet> => {
    fetches.push(clock.now() - 1_000_000);
    const { published: keys } = self;
    await self.slow;
    if (keys === 'down') throw new Error('connection refused');
    return { keys: keys.map(({ publicJwk }) => publicJwk) };
  };
  const keys = createKeySet({ load, clock, logger: silentLogger }, { ttlMs: TTL, graceMs: GRACE });
  const self: World = { clock, keys, fetches, published, slow: undefined };
  return self;
}

const header = (kid: string | undefined, alg = 'ES256') => ({ alg, kid });

/** Result of `find` while time advances as far as needed. */
async function finds(target: World, kid: string, ms = 2_000): Promise<boolean | string> {
  const found = target.keys.find(header(kid)).then(
    (key) => key !== undefined,
    (error: { code: string }) => error.code,
  );
  await target.clock.advance(ms);
  return found;
}

describe('signing keys', () => {
  it('are fetched when first needed and then kept', async () => {
    const target = world();
    await Promise.all([target.keys.find(header('a')), target.keys.find(header('a')), target.keys.version()]);
    expect(await finds(target, 'a')).toBe(true);
    expect(target.fetches).toEqual([0]);
  });

  it.each([
    [0.8 * TTL - 1, 1],
    [0.8 * TTL, 2],
    [TTL - 1, 2],
    [TTL, 2],
    [TTL + 1, 2],
  ])('at an age of %i ms there have been %i fetches', async (age, want) => {
    const target = world();
    await target.keys.version();
    await target.clock.advance(age);
    expect(await finds(target, 'a', 0)).toBe(true);
    expect(target.fetches).toHaveLength(want);
  });

  it('that are withdrawn no longer serve when the TTL is over', async () => {
    const target = world([a, b]);
    await target.keys.version();
    target.published = [b];
    await target.clock.advance(TTL);
    expect(await finds(target, 'a')).toBe(false);
    expect(await finds(target, 'b')).toBe(true);
  });

  it('that have not changed keep their version, and those that have get another', async () => {
    const target = world();
    const first = await target.keys.version();
    await target.clock.advance(TTL);
    expect(await target.keys.version()).toBe(first);
    target.published = [a, b];
    await target.clock.advance(TTL);
    expect(await target.keys.version()).not.toBe(first);
  });

  it('are refreshed once for a key that was rotated in', async () => {
    const target = world();
    await target.keys.version();
    await target.clock.advance(1_000);
    target.published = [a, b];
    const all = await Promise.all([1, 2, 3].map(() => finds(target, 'b')));
    expect(all).toEqual([true, true, true]);
    expect(target.fetches).toEqual([0, 1_000]);
  });

  it('AMB-121 a made-up key costs one fetch, however often it comes', async () => {
    const target = world();
    await target.keys.version();
    await target.clock.advance(1_000);
    const all = Promise.all(Array.from({ length: 50 }, () => target.keys.find(header('bogus'))));
    await target.clock.advance(0);
    expect((await all).every((key) => key === undefined)).toBe(true);
    for (let turn = 0; turn < 50; turn++) expect(await finds(target, 'bogus', 100)).toBe(false);
    expect(target.fetches).toEqual([0, 1_000]);
  });

  it.each([
    [9_999, 2],
    [10_000, 3],
    [10_001, 3],
  ])('AMB-121 %i ms later the made-up key has cost %i fetches', async (ms, want) => {
    const target = world();
    await target.keys.version();
    await target.clock.advance(1_000);
    await finds(target, 'bogus', 0);
    await target.clock.advance(ms);
    await finds(target, 'bogus', 0);
    expect(target.fetches).toHaveLength(want);
  });

  it('AMB-121 many made-up keys cost one fetch a second, and a real one among them is found', async () => {
    const target = world();
    await target.keys.version();
    target.published = [a, b];
    const all = Array.from({ length: 100 }, (_, index) => target.keys.find(header(`bogus-${index}`)));
    const real = target.keys.find(header('b'));
    await target.clock.advance(999);
    expect(target.fetches).toEqual([0]);
    await target.clock.advance(1);
    expect(target.fetches).toEqual([0, 1_000]);
    expect(await real).toBeDefined();
    expect((await Promise.all(all)).every((key) => key === undefined)).toBe(true);
  });

  it('that were published while a fetch was under way are found by the next one', async () => {
    const target = world();
    await target.keys.version();
    await target.clock.advance(1_000);
    let release: () => void = () => undefined;
    target.slow = new Promise((resolve) => {
      release = resolve;
    });
    const bogus = target.keys.find(header('bogus'));
    await target.clock.advance(500);
    target.published = [a, b];
    const real = target.keys.find(header('b'));
    release();
    target.slow = undefined;
    await target.clock.advance(500);
    expect(await bogus).toBeUndefined();
    expect(await real).toBeDefined();
    expect(target.fetches).toEqual([0, 1_000, 2_000]);
  });

  it.each([
    ['that is longer than any real one', 'k'.repeat(257)],
    ['that is no text', 7],
  ])('a key id %s costs no fetch', async (_, kid) => {
    const target = world();
    await target.keys.version();
    await target.clock.advance(1_000);
    expect(await target.keys.find({ alg: 'ES256', kid: kid as string })).toBeUndefined();
    expect(target.fetches).toEqual([0]);
  });

  it('a known key under another algorithm is no match and costs no fetch', async () => {
    const target = world();
    await target.keys.version();
    await target.clock.advance(1_000);
    expect(await target.keys.find(header('a', 'RS256'))).toBeUndefined();
    expect(target.fetches).toEqual([0]);
  });

  it('without a key id the only key that fits is taken, and none where two do', async () => {
    expect(await world([a]).keys.find(header(undefined))).toBeDefined();
    const target = world([a, b]);
    const found = target.keys.find(header(undefined));
    await target.clock.advance(1_000);
    expect(await found).toBeUndefined();
  });

  it('AMB-121 without a key id are refreshed once for a key that replaced the only one', async () => {
    const target = world();
    const old = await target.keys.find(header(undefined));
    await target.clock.advance(1_000);
    target.published = [b];
    expect(await target.keys.find(header(undefined))).toBe(old);
    const all = Promise.all([1, 2, 3].map(() => target.keys.find(header(undefined), old)));
    await target.clock.advance(0);
    for (const found of await all) {
      expect(found).toBeDefined();
      expect(found).not.toBe(old);
    }
    expect(target.fetches).toEqual([0, 1_000]);
  });

  it('without a key id are refreshed for a key of an algorithm that none had', async () => {
    const target = world();
    await target.keys.version();
    await target.clock.advance(1_000);
    target.published = [a, await makeKey('RS256', 'r')];
    expect(await target.keys.find(header(undefined, 'RS256'))).toBeDefined();
    expect(target.fetches).toEqual([0, 1_000]);
  });

  it.each([
    [9_999, 2],
    [10_000, 3],
    [10_001, 3],
  ])('AMB-121 made-up tokens without a key id have cost, %i ms after the first, %i fetches', async (ms, want) => {
    const target = world();
    const only = await target.keys.find(header(undefined));
    await target.clock.advance(1_000);
    expect(await target.keys.find(header(undefined), only)).toBeUndefined();
    await target.clock.advance(ms);
    const all = Promise.all(Array.from({ length: 50 }, () => target.keys.find(header(undefined), only)));
    await target.clock.advance(0);
    expect(new Set(await all)).toEqual(new Set([undefined]));
    expect(target.fetches).toHaveLength(want);
  });
});

describe('signing keys of a provider that is down', () => {
  it('are unavailable when none were fetched before', async () => {
    const target = world('down');
    await expect(target.keys.version()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(target.keys.find(header('a'))).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('are asked for again after 1, 2, 4, 8 and then every 10 seconds', async () => {
    const target = world('down');
    for (let second = 0; second < 40; second++) {
      await target.keys.version().catch(() => undefined);
      await target.clock.advance(1_000);
    }
    expect(target.fetches).toEqual([0, 1_000, 3_000, 7_000, 15_000, 25_000, 35_000]);
  });

  it.each([
    [TTL + GRACE - 1, true],
    [TTL + GRACE, 'unavailable'],
    [TTL + GRACE + 1, 'unavailable'],
  ])('at an age of %i ms, of which 60,000 are grace, a known key is found: %s', async (age, want) => {
    const target = world();
    await target.keys.version();
    target.published = 'down';
    await target.clock.advance(age);
    expect(await finds(target, 'a', 0)).toBe(want);
  });

  it('serve again as soon as a fetch succeeds', async () => {
    const target = world();
    await target.keys.version();
    target.published = 'down';
    await target.clock.advance(TTL + GRACE);
    expect(await finds(target, 'a', 0)).toBe('unavailable');
    target.published = [b];
    await target.clock.advance(1_000);
    expect(await finds(target, 'b', 0)).toBe(true);
  });

  it('keep no caller waiting for whom older ones will do', async () => {
    const target = world();
    await target.keys.version();
    target.published = 'down';
    await target.clock.advance(TTL);
    expect(await finds(target, 'a', 0)).toBe(true);
    await target.clock.advance(1_000);
    target.slow = new Promise(() => undefined);
    expect(await finds(target, 'a', 0)).toBe(true);
    expect(target.fetches).toHaveLength(3);
  });

  it('keep no caller waiting for a key longer than a second while the provider hangs, however many ask', async () => {
    const target = world([a]);
    await target.keys.version();
    await target.clock.advance(2_000);
    const hanging = Promise.withResolvers<void>();
    target.slow = hanging.promise;
    target.published = [a, b];
    const ends: number[] = [];
    const ask = (kid: string): Promise<string> =>
      target.keys.find(header(kid)).then(
        () => 'found',
        (error: { code: string }) => {
          ends.push(target.clock.now() - 1_002_000);
          return error.code;
        },
      );
    const asked = Array.from({ length: 50 }, (_, index) => ask(`made-up-${index}`));
    await target.clock.advance(999);
    expect(ends).toEqual([]);
    await target.clock.advance(1);
    expect(await Promise.all(asked)).toEqual(Array(50).fill('unavailable'));
    expect(ends).toEqual(Array(50).fill(1_000));
    expect(await ask('b')).toBe('unavailable');
    expect(await finds(target, 'a', 0)).toBe(true);
    // The fetch continued: its keys serve later callers.
    hanging.resolve();
    await target.clock.advance(0);
    expect(await finds(target, 'b', 0)).toBe(true);
  });

  it('a key that is not among them cannot be judged, and is not taken for made up', async () => {
    const target = world();
    await target.keys.version();
    await target.clock.advance(1_000);
    target.published = 'down';
    expect(await finds(target, 'b', 0)).toBe('unavailable');
    expect(await finds(target, 'b', 0)).toBe('unavailable');
    target.published = [a, b];
    await target.clock.advance(1_000);
    expect(await finds(target, 'b', 0)).toBe(true);
    expect(target.fetches).toEqual([0, 1_000, 2_000]);
  });
});
