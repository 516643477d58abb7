import type { KeyObject } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rotateKey } from '../../../edge/rotation.ts';
import { type HostCredential, type HostState, openHostState } from '../../../edge/state/host-state.ts';
import { createRelayClient, type RelayClient } from '../../../edge/stream/relay-client.ts';
import { AppError } from '../../../lib/errors.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { call, newKey, rawOf, rotation, type WireHost } from '../../support/wire-daemon.ts';
import { ProtocolWorld } from './protocol-world.ts';

let world: ProtocolWorld;
let relay: TestRelay & { readonly client: Client };
let client: RelayClient;
let folder: string;
let state: HostState;
let host: WireHost;
/** Requests that came to the relay. */
let requests: number;

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
beforeEach(async () => {
  relay = await world.relay();
  client = createRelayClient({ endpoint: `127.0.0.1:${relay.listener.port}`, insecure: true });
  folder = await mkdtemp(join(tmpdir(), 'edge-rotation-'));
  state = await openHostState(join(folder, 'state'), { uid: process.geteuid?.() ?? 0 });
  await enroll();
});
afterEach(async () => {
  client[Symbol.dispose]();
  await world.clear();
  await rm(folder, { recursive: true, force: true });
});

/** Another host, with this folder. */
async function enroll(pendingKeys: readonly KeyObject[] = []): Promise<void> {
  host = await world.enroll(relay.client);
  requests = 0;
  const { key: privateKey, token } = host;
  await state.saveCredential({ privateKey, token, receivedAt: Date.now(), lifeMs: 86_400_000, pendingKeys });
}

async function onDisk(): Promise<HostCredential> {
  const credential = await state.credential();
  if (credential === undefined) throw new Error('no credential');
  return credential;
}

type Ports = Pick<HostState, 'saveCredential'> & Pick<RelayClient, 'rotate'>;

const heard: Ports = {
  saveCredential: (credential) => state.saveCredential(credential),
  rotate: (bytes) => {
    requests += 1;
    return client.rotate(bytes);
  },
};
const unheard: Ports = {
  ...heard,
  rotate: () => Promise.reject(new AppError('unavailable', 'unheard', { reason: 'UNAVAILABLE' })),
};
const lost: Ports = {
  ...heard,
  async rotate(bytes) {
    await heard.rotate(bytes);
    throw new AppError('timeout', 'answer lost', { reason: 'DEADLINE_EXCEEDED' });
  },
};

/** One attempt of a daemon that was just started. */
async function attempt({ saveCredential: save, rotate }: Ports): Promise<HostCredential> {
  const { clock } = world;
  const deps = { clock, logger: silentLogger, nodeId: host.nodeId, client: { rotate }, save };
  return rotateKey(deps, await onDisk());
}

const jtiOf = (token: string): unknown =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { readonly jti: unknown }).jti;

/** The disk has the key that the server holds, with the token that counts, and no other key. */
async function isIn(): Promise<void> {
  const { privateKey, token, pendingKeys } = await onDisk();
  const stored = await world.status(host);
  expect([rawOf(privateKey).toString('base64'), jtiOf(token)]).toEqual([stored?.keys.current, stored?.token_jti]);
  expect(pendingKeys).toEqual([]);
}

describe('EDGE-FLOW-21 EDGE-FLOW-22 a daemon', () => {
  it.each([1, 7, 8, 9, 50])(
    'keeps its host where %d answers in a row are lost, with one open key at a time',
    async (n) => {
      for (let i = 0; i < n; i += 1) {
        await expect(attempt(lost)).rejects.toThrow('lost');
        expect((await onDisk()).pendingKeys).toHaveLength(1);
        // Each of them is a rotation, and a host has one a minute for long.
        world.steadyAheadMs += 60_000;
      }
      const { privateKey: key, token } = await attempt(heard);
      await isIn();
      await world.connected(relay.client, { ...host, key, token });
    },
  );

  it('keeps its host where the relay refuses it a rotation for a minute', async () => {
    for (let i = 0; i < 8; i += 1) await expect(attempt(lost)).rejects.toThrow('lost');
    for (let i = 0; i < 3; i += 1) {
      await expect(attempt(lost)).rejects.toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
      expect((await onDisk()).pendingKeys).toHaveLength(1);
    }
    world.steadyAheadMs += 60_000;
    const { privateKey: key, token } = await attempt(heard);
    await isIn();
    await world.connected(relay.client, { ...host, key, token });
  });

  it.each([1, 7, 8, 9, 50])('keeps its host where one answer is lost and %d attempts are not heard', async (n) => {
    await expect(attempt(lost)).rejects.toThrow('lost');
    const before = await onDisk();
    for (let i = 0; i < n; i += 1) await expect(attempt(unheard)).rejects.toThrow('unheard');
    const rawsOf = ({ pendingKeys }: HostCredential) => pendingKeys.map(rawOf);
    expect(rawsOf(await onDisk())).toEqual(rawsOf(before));
    await attempt(heard);
    await isIn();
  });

  it('offers the same key again where its first request was not heard', async () => {
    await expect(attempt(unheard)).rejects.toThrow('unheard');
    const [offered] = (await onDisk()).pendingKeys;
    const { privateKey } = await attempt(heard);
    expect([rawOf(privateKey), requests]).toEqual([offered && rawOf(offered), 1]);
    await isIn();
  });

  it('keeps the offered key where the relay knows none', async () => {
    await expect(attempt(lost)).rejects.toThrow('lost');
    world.hosts.remove('acme', host.nodeId);
    const before = await onDisk();
    await expect(attempt(heard)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect((await onDisk()).pendingKeys.map(rawOf)).toEqual(before.pendingKeys.map(rawOf));
  });
});

class Crash extends Error {}

/** The process ends at this step; each write and each request has one before and one after it. */
function endingAt(last: number): Ports {
  let step = 0;
  const reach = (): void => {
    if (step === last) throw new Crash();
    step += 1;
  };
  return {
    async saveCredential(credential) {
      reach();
      await heard.saveCredential(credential);
      reach();
    },
    async rotate(bytes) {
      reach();
      return heard.rotate(bytes).finally(reach);
    },
  };
}

/** Whether the process ended before the rotation did. */
const crashes = async (at: number): Promise<boolean> => {
  try {
    await attempt(endingAt(at));
    return false;
  } catch (error) {
    if (error instanceof Crash) return true;
    throw error;
  }
};

describe('EDGE-FLOW-22 a daemon that ends', () => {
  it.each([
    [0, 'before its new key is written', 6],
    [1, 'once its new key is written', 4],
    [2, 'before its request', 4],
    [3, 'at the answer', 10],
    [4, 'before the token is written', 10],
    [5, 'once the token is written', 6],
  ])(
    'at step %d, %s, keeps its host wherever it ends again',
    async (first, _when, steps) => {
      for (let second = 0; second <= steps; second += 1) {
        await enroll();
        expect([await crashes(first), await crashes(second)]).toEqual([true, second < steps]);
        expect((await onDisk()).pendingKeys.length).toBeLessThanOrEqual(1);
        await attempt(heard);
        await isIn();
      }
    },
    60_000,
  );
});

describe('EDGE-FLOW-22 a folder of an earlier version', () => {
  /** The keys of rotations without an answer; the server has taken the one at this place. */
  async function folderOf(count: number, taken: number): Promise<void> {
    const keys = Array.from({ length: count }, newKey);
    await enroll(keys);
    const key = keys[taken];
    if (key !== undefined) await call(relay.client, 'RotateEdgeKey', rotation({ host, newKey: key }));
  }

  it.each([
    [2, -1, 1],
    [2, 0, 3],
    [2, 1, 3],
    [7, 0, 8],
    [8, -1, 1],
    [8, 0, 9],
    [8, 3, 6],
    [8, 6, 3],
    [8, 7, 3],
  ])('of %d keys, where the server has taken that at %d, comes in with %d requests', async (count, taken, asked) => {
    await folderOf(count, taken);
    await expect(attempt(unheard)).rejects.toThrow('unheard');
    expect((await onDisk()).pendingKeys).toHaveLength(count);
    await attempt(heard);
    expect(requests).toBe(asked);
    await isIn();
  });

  it.each([-1, 0, 3, 7])(
    'comes in after one more lost answer, where the server has taken that at %d',
    async (taken) => {
      await folderOf(8, taken);
      await expect(attempt(lost)).rejects.toThrow('lost');
      await attempt(heard);
      await isIn();
    },
  );

  it('keeps every key while the relay knows none of them', async () => {
    await folderOf(8, 0);
    world.hosts.remove('acme', host.nodeId);
    await expect(attempt(heard)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect([requests, (await onDisk()).pendingKeys.length]).toEqual([9, 8]);
  });
});
