import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { isSealedBy, readRotation } from '../lib/edge/index.ts';
import { rawPublicKey, readRawPublicKey } from '../lib/envelope/index.ts';
import { AppError } from '../lib/errors.ts';
import { createManualClock } from '../test/support/manual-clock.ts';
import { silentLogger } from '../test/support/silent-logger.ts';
import { createDaemon } from './daemon.ts';
import { type HostCredential, publicKeyOf } from './state/host-state.ts';
import type { RelayClient } from './stream/relay-client.ts';

type DaemonDeps = Parameters<typeof createDaemon>[0];

const lifeMs = 86_400_000;
const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;

/** A server that takes a rotation signed by the key that it holds, as `relay/rpc/rotate.ts`; its first answer is late. */
function lateServer(first: KeyObject) {
  const late = Promise.withResolvers<void>();
  const server = { holds: publicKeyOf(first), taken: 0, answer: late.resolve };
  const rotate = vi.fn<RelayClient['rotate']>(async (bytes) => {
    const { sealed, newPublicKey } = readRotation(bytes);
    if (!isSealedBy(server.holds, sealed, '')) {
      throw new AppError('unauthenticated', 'another key', { reason: 'UNAUTHENTICATED' });
    }
    server.holds = readRawPublicKey(newPublicKey, 'key');
    server.taken += 1;
    const token = `token ${server.taken}`;
    if (server.taken === 1) await late.promise;
    return {
      nodeSecurityToken: token,
      issuedAt: new Date(0),
      expiresAt: new Date(lifeMs),
      heartbeatInterval: undefined,
      overlapWindow: undefined,
    };
  });
  return { server, rotate };
}

it('EDGE-FLOW-22 has one rotation under way, so a late answer takes no newer key away', async () => {
  const clock = createManualClock();
  const privateKey = newKey();
  const { server, rotate } = lateServer(privateKey);
  const saved: HostCredential[] = [];
  const relayKey = rawPublicKey(generateKeyPairSync('ed25519').publicKey).toString('base64');
  const client = {
    rotate,
    connect: () => {
      throw new AppError('unavailable', 'no stream', { reason: 'Unavailable' });
    },
    [Symbol.dispose]: () => undefined,
  } as unknown as RelayClient & Disposable;
  const daemon = createDaemon({
    clock,
    logger: silentLogger,
    chance: () => 0.999,
    credential: { privateKey, token: 't', receivedAt: clock.now() - lifeMs, lifeMs, pendingKeys: [] },
    state: { saveCredential: async (credential: HostCredential) => void saved.push(credential) },
    identity: { nodeId: 'n', tenant: 't', relayKey, commandKey: relayKey, heartbeatMs: 30_000 },
    journal: { begun: () => [], waiting: () => [], forget: async () => undefined },
    config: { current: {}, version: '' },
    tools: { names: [] },
    open: () => client,
  } as unknown as DaemonDeps);
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  await vi.waitFor(() => expect(server.taken).toBe(1));
  // The daemon looks once a minute whether a rotation is due, also while it waits for the answer to one.
  await clock.advance(60_000);
  await clock.advance(60_000);
  server.answer();
  await vi.waitFor(() => expect(saved.at(-1)?.token).toBe('token 1'));
  expect(rotate).toHaveBeenCalledTimes(1);
  const last = saved.at(-1);
  expect(last !== undefined && publicKeyOf(last.privateKey).equals(server.holds)).toBe(true);
  stop.abort();
  await clock.advance(600_000);
  await running;
});
