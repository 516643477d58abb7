import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { ConfigMap } from '../kube/index.ts';
import { KubeError } from '../kube/index.ts';
import { publicKeysName, publishPublicKeys, readEdgePublicKey, readPublicKeys } from './public-keys.ts';

const aKey = (): KeyObject => generateKeyPairSync('ed25519').publicKey;

/** A server that holds at most the one ConfigMap, and that fails a number of times first. */
function world({ failures = 0, data }: { failures?: number; data?: Record<string, string> } = {}) {
  const clock = createManualClock();
  const state = { failures, data, writes: 0 };
  const turn = (): void => {
    if (state.failures-- > 0) throw new Error('the server is away');
  };
  const kube = {
    async get() {
      turn();
      if (state.data === undefined)
        throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'configmaps' });
      return { metadata: { name: publicKeysName }, data: state.data };
    },
    async create(_resource: unknown, object: ConfigMap) {
      state.writes += 1;
      state.data = { ...object.data };
      return object;
    },
    async mergePatch(_resource: unknown, _ref: unknown, patch: { data: Record<string, string | null> }) {
      state.writes += 1;
      const merged = Object.entries({ ...state.data, ...patch.data }).filter(([, pem]) => pem !== null);
      state.data = Object.fromEntries(merged) as Record<string, string>;
      return {};
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- generic methods, used with one kind here
  const deps = { kube, clock, logger: silentLogger, namespace: 'windlass-system' } as unknown as Parameters<
    typeof publishPublicKeys
  >[0];
  return { clock, state, deps, stop: new AbortController() };
}

const same = (one: KeyObject | undefined, other: KeyObject): boolean => one?.equals(other) === true;

describe('the public keys of an installation', () => {
  it('are read as they were written, whether or not the ConfigMap was there', async () => {
    for (const data of [undefined, {}]) {
      const { deps, stop } = world(data && { data });
      const keys = { seal: aKey(), edge: aKey() };
      await publishPublicKeys(deps, keys, stop.signal);
      const found = await readPublicKeys(deps, stop.signal);
      expect([same(found.seal, keys.seal), same(found.edge, keys.edge)]).toEqual([true, true]);
    }
  });

  it('are written again only where they differ; a key that is no more is removed', async () => {
    const { deps, state, stop } = world();
    const keys = { seal: aKey(), edge: aKey() };
    await publishPublicKeys(deps, keys, stop.signal);
    await publishPublicKeys(deps, keys, stop.signal);
    expect(state.writes).toBe(1);
    await publishPublicKeys(deps, { seal: keys.seal }, stop.signal);
    expect((await readPublicKeys(deps, stop.signal)).edge).toBeUndefined();
  });

  it('are waited for while the server is away or nothing is written', async () => {
    const { deps, state, clock, stop } = world({ failures: 1 });
    const reading = readPublicKeys(deps, stop.signal);
    await clock.advance(2_000);
    const seal = aKey();
    state.data = { 'seal.pem': seal.export({ format: 'pem', type: 'spki' }).toString() };
    await clock.advance(2_000);
    expect(same((await reading).seal, seal)).toBe(true);
  });

  it('have an edge key that is waited for, where an API of before has written the other one alone', async () => {
    const { deps, state, clock, stop } = world();
    await publishPublicKeys(deps, { seal: aKey() }, stop.signal);
    const reading = readEdgePublicKey(deps, stop.signal);
    await clock.advance(2_000);
    const edge = aKey();
    state.data = { ...state.data, 'edge.pem': edge.export({ format: 'pem', type: 'spki' }).toString() };
    await clock.advance(2_000);
    expect(same(await reading, edge)).toBe(true);
  });

  it.each([
    ['empty', ''],
    ['no PEM', 'no PEM'],
    ['too long', 'x'.repeat(5_000)],
  ])('are not there where the entry is %s', async (_what, text) => {
    const { deps, clock, stop } = world({ data: { 'seal.pem': text } });
    const reading = Promise.allSettled([readPublicKeys(deps, stop.signal)]);
    stop.abort();
    await clock.advance(2_000);
    expect(await reading).toMatchObject([{ status: 'rejected', reason: { code: 'cancelled' } }]);
  });
});
