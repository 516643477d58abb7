import type { Client } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestRelay } from '../../support/test-relay.ts';
import { field, fields, type WireMessage } from '../../support/wire.ts';
import {
  call,
  codeOf,
  envelopeOf,
  newKey,
  rawOf,
  rotation,
  type Rotation,
  type WireHost,
} from '../../support/wire-daemon.ts';
import { ProtocolWorld } from './protocol-world.ts';

let world: ProtocolWorld;
let relay: TestRelay & { readonly client: Client };
let host: WireHost;

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
beforeEach(async () => {
  relay = await world.relay();
  host = await world.enroll(relay.client);
});
afterEach(() => world.clear());

const rotate = (facts: Partial<Rotation> = {}): Promise<WireMessage> =>
  call(relay.client, 'RotateEdgeKey', rotation({ host, newKey: newKey(), ...facts }));
const seconds = (message: WireMessage, number: number): number => Number(message.message(number).number(1));
const claimsOf = (token: string): unknown => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

describe('RotateEdgeKey', () => {
  it('EDGE-PROTO-02 EDGE-PROTO-47..53 answers a token for the new key, its time, and the overlap', async () => {
    const next = newKey();
    const before = Math.floor(Date.now() / 1_000);
    const answer = await rotate({ newKey: next });
    expect(answer.numbers).toEqual([1, 2, 3, 4, 10]);
    expect(seconds(answer, 2)).toBeGreaterThanOrEqual(before);
    expect(seconds(answer, 2)).toBeLessThanOrEqual(before + 10);
    expect(seconds(answer, 3) - seconds(answer, 2)).toBe(86_400);
    expect(seconds(answer, 4)).toBe(300);
    expect(seconds(answer, 10)).toBe(30);
    expect(claimsOf(answer.text(1))).toMatchObject({
      sub: host.nodeId,
      tid: 'acme',
      iat: seconds(answer, 2),
      exp: seconds(answer, 3),
    });
    // Bound to the new key: with the old one it opens no stream.
    const token = answer.text(1);
    const wrong = world.open(relay.client, { ...host, token });
    wrong.hello();
    expect(await wrong.ended).toBe('UNAUTHENTICATED');
    const right = world.open(relay.client, { ...host, token, key: next });
    right.hello();
    await world.becomes(host, 'Connected');
    expect((await world.status(host))?.keys.current).toBe(rawOf(next).toString('base64'));
    // Nor does the old one sign a later message of that stream.
    right.heartbeat({ key: host.key, token });
    expect(await right.ended).toBe('UNAUTHENTICATED');
  });

  it.each<[what: string, facts: () => Partial<Rotation> | Promise<Partial<Rotation>>]>([
    ['by another key', () => ({ oldKey: newKey() })],
    [
      'by the new key',
      () => {
        const both = newKey();
        return { newKey: both, oldKey: both };
      },
    ],
    ['by the key of another host', async () => ({ oldKey: (await world.enroll(relay.client)).key })],
    [
      'with the token of another host',
      async () => ({ host: { ...(await world.enroll(relay.client)), key: host.key } }),
    ],
    ['with no token', () => ({ host: { ...host, token: '' } })],
    ['with a token that is none', () => ({ host: { ...host, token: 'a.b.c' } })],
    ['of sequence 0', () => ({ sequence: 0n })],
    ['that is 301 s old', () => ({ now: Date.now() - 301_000 })],
    ['that is 301 s ahead', () => ({ now: Date.now() + 301_000 })],
  ])('EDGE-FLOW-19 EDGE-FLOW-24 refuses an envelope %s as UNAUTHENTICATED', async (_what, facts) => {
    const before = await world.status(host);
    expect(await codeOf(rotate(await facts()))).toBe('UNAUTHENTICATED');
    expect(await world.status(host)).toEqual(before);
  });

  it('EDGE-FLOW-19 EDGE-FLOW-24 refuses a request without an envelope, and one whose bytes were changed', async () => {
    const next = newKey();
    const whole = rotation({ host, newKey: next });
    const tell = (request: Uint8Array): Promise<string> => codeOf(call(relay.client, 'RotateEdgeKey', request));
    expect(await tell(fields(field(2, rawOf(next)), field(3, Buffer.alloc(64))))).toBe('UNAUTHENTICATED');
    // The envelope comes last, and covers what is before it.
    const other = Buffer.from(whole);
    other.writeUInt8(other.readUInt8(10) ^ 1, 10);
    expect(await tell(other)).toBe('UNAUTHENTICATED');
    expect(await tell(fields(whole, field(4, 'x')))).toBe('INVALID_ARGUMENT');
    expect(await tell(fields(whole, field(3, Buffer.alloc(64))))).toBe('INVALID_ARGUMENT');
    expect(await tell(whole)).toBe('OK');
  });

  it.each<[what: string, facts: () => Partial<Rotation>]>([
    ['of 31 bytes', () => ({ publicKey: rawOf(newKey()).subarray(0, 31) })],
    ['of 33 bytes', () => ({ publicKey: Buffer.concat([rawOf(newKey()), Buffer.alloc(1)]) })],
    ['that is empty', () => ({ publicKey: Buffer.alloc(0) })],
    ['of small order', () => ({ publicKey: Buffer.alloc(32) })],
    ['that another key has signed for', () => ({ publicKey: rawOf(newKey()) })],
    ['with a signature of 63 bytes', () => ({ proof: Buffer.alloc(63) })],
    ['with a signature of 65 bytes', () => ({ proof: Buffer.alloc(65) })],
    ['that the host has now', () => ({ newKey: host.key })],
  ])('EDGE-FLOW-20 EDGE-FLOW-23 EDGE-PROTO-48 EDGE-PROTO-49 refuses a new key %s', async (_what, facts) => {
    const before = await world.status(host);
    expect(await codeOf(rotate(facts()))).toBe('INVALID_ARGUMENT');
    expect(await world.status(host)).toEqual(before);
  });

  it('EDGE-FLOW-21 refuses the key before the last rotation, and takes the one before that', async () => {
    const [first, second, third] = [host.key, newKey(), newKey()];
    const turn = async (key: typeof first): Promise<void> => {
      host = { ...host, token: (await rotate({ newKey: key })).text(1), key };
    };
    await turn(second);
    expect(await codeOf(rotate({ newKey: first }))).toBe('INVALID_ARGUMENT');
    await turn(third);
    await turn(first);
    expect((await world.status(host))?.keys.current).toBe(rawOf(first).toString('base64'));
  });

  it('EDGE-FLOW-19 EDGE-FLOW-20 judges the envelope before the new key, and both before the state of the host', async () => {
    expect(await codeOf(rotate({ oldKey: newKey(), publicKey: Buffer.alloc(31) }))).toBe('UNAUTHENTICATED');
    world.hosts.revoke('acme', host.nodeId);
    expect(await codeOf(rotate({ oldKey: newKey() }))).toBe('UNAUTHENTICATED');
    expect(await codeOf(rotate({ publicKey: Buffer.alloc(31) }))).toBe('INVALID_ARGUMENT');
    expect(await codeOf(rotate())).toBe('FAILED_PRECONDITION');
  });

  it('EDGE-FLOW-25 refuses hosts that are Unhealthy or Revoked, and takes Disconnected and Connected ones', async () => {
    const first = newKey();
    const answer = await rotate({ newKey: first });
    host = { ...host, key: first, token: answer.text(1) };
    const stream = await world.connected(relay.client, host);
    world.steadyAheadMs = 90_001;
    await relay.streams.checkHeartbeats();
    expect((await world.status(host))?.status).toBe('Unhealthy');
    expect(await codeOf(rotate())).toBe('FAILED_PRECONDITION');
    stream.heartbeat();
    await world.becomes(host, 'Connected');
    const second = newKey();
    host = { ...host, key: second, token: (await rotate({ newKey: second })).text(1) };
    world.hosts.revoke('acme', host.nodeId);
    expect(await codeOf(rotate())).toBe('FAILED_PRECONDITION');
  });

  it.each([
    ['the old key', false],
    ['the new key with the old token', true],
  ])(
    'EDGE-FLOW-21 EDGE-FLOW-22 EDGE-PROTO-53 lets %s count on the open stream until the overlap is over',
    async (_what, isNew) => {
      const stream = await world.connected(relay.client, host);
      const next = newKey();
      const answer = await rotate({ newKey: next });
      const until = Date.parse((await world.status(host))?.keys.previous_until ?? '');
      expect(until - seconds(answer, 2) * 1_000).toBeGreaterThanOrEqual(300_000);
      const isOpen = (): Promise<string> => Promise.race([stream.ended, world.clock.sleep(300).then(() => 'open')]);
      const signed = (key: typeof next, token = host.token): void =>
        void stream.heartbeat({ key, token, now: world.clock.now() });
      world.aheadMs = until - 2_000 - Date.now();
      signed(host.key);
      signed(next);
      expect(await isOpen()).toBe('open');
      world.aheadMs = until + 1 - Date.now();
      if (!isNew) signed(next, answer.text(1));
      expect(await isOpen()).toBe('open');
      signed(isNew ? next : host.key);
      expect(await stream.ended).toBe('UNAUTHENTICATED');
    },
  );

  it('EDGE-FLOW-22 EDGE-FLOW-18 counts at once, before the news of it has come to the relay that holds the stream', async () => {
    const stream = await world.connected(relay.client, host);
    const next = newKey();
    const release = world.hosts.holdNews();
    const token = (await rotate({ newKey: next })).text(1);
    stream.heartbeat({ key: next, token });
    const isOpen = await Promise.race([stream.ended, world.clock.sleep(300).then(() => 'open')]);
    expect(isOpen).toBe('open');
    // Looking once more finds a revocation as well.
    world.hosts.revoke('acme', host.nodeId);
    stream.heartbeat({ key: newKey(), token });
    expect(await stream.ended).toBe('PERMISSION_DENIED');
    release();
  });

  it('EDGE-FLOW-29 EDGE-PROTO-52 is due on an open stream before its token ends: after that no envelope counts', async () => {
    const stream = await world.connected(relay.client, host);
    const ends = Number((claimsOf(host.token) as { readonly exp: number }).exp) * 1_000;
    const beat = (changes: object = {}): void => void stream.heartbeat({ now: world.clock.now(), ...changes });
    const isOpen = (): Promise<string> => Promise.race([stream.ended, world.clock.sleep(300).then(() => 'open')]);
    world.aheadMs = ends - 3_000 - Date.now();
    beat();
    expect(await isOpen()).toBe('open');
    const next = newKey();
    const token = (await rotate({ newKey: next, now: world.clock.now() })).text(1);
    world.aheadMs = ends + 1_000 - Date.now();
    beat({ key: next, token });
    expect(await isOpen()).toBe('open');
    beat({ token: host.token });
    expect(await stream.ended).toBe('UNAUTHENTICATED');
  });

  it('EDGE-FLOW-29 a stream whose daemon never rotates ends with its token, and the expired token still rotates', async () => {
    const stream = await world.connected(relay.client, host);
    const ends = Number((claimsOf(host.token) as { readonly exp: number }).exp) * 1_000;
    world.aheadMs = ends + 1_000 - Date.now();
    stream.heartbeat({ now: world.clock.now() });
    expect(await stream.ended).toBe('UNAUTHENTICATED');
    expect(await codeOf(rotate({ now: world.clock.now() }))).toBe('OK');
  });

  it('EDGE-FLOW-22 takes the new token from the next envelope on, and no token of another', async () => {
    const stream = await world.connected(relay.client, host);
    const next = newKey();
    const token = (await rotate({ newKey: next })).text(1);
    stream.heartbeat({ key: next, token });
    stream.heartbeat({ key: next, token });
    const other = await world.enroll(relay.client);
    stream.heartbeat({ key: next, token: other.token });
    expect(await stream.ended).toBe('UNAUTHENTICATED');
  });

  it.each([
    ['the old key and the old token', false, false],
    ['the new key and the old token', true, false],
    ['the old key and the new token', false, true],
  ])(
    'EDGE-FLOW-22 after the first envelope with the new token, takes none with %s',
    async (_what, isNewKey, isNewToken) => {
      const stream = await world.connected(relay.client, host);
      const next = newKey();
      const token = (await rotate({ newKey: next })).text(1);
      stream.heartbeat();
      stream.heartbeat({ key: next, token });
      const isOpen = await Promise.race([stream.ended, world.clock.sleep(300).then(() => 'open')]);
      expect(isOpen).toBe('open');
      stream.heartbeat({ key: isNewKey ? next : host.key, token: isNewToken ? token : host.token });
      expect(await stream.ended).toBe('UNAUTHENTICATED');
    },
  );

  it('EDGE-FLOW-21 takes no envelope with the new token that the old key has signed', async () => {
    const stream = await world.connected(relay.client, host);
    const token = (await rotate()).text(1);
    stream.heartbeat({ token });
    expect(await stream.ended).toBe('UNAUTHENTICATED');
  });

  it('AMB-202 takes an envelope with an empty stream id and the domain of rotations alone', async () => {
    const next = newKey();
    const rest = fields(field(2, rawOf(next)), field(3, Buffer.alloc(64)));
    const facts = { key: host.key, nodeId: host.nodeId, token: host.token, sequence: 1n };
    const send = (domain: string, streamId: string): Promise<string> => {
      const envelope = envelopeOf(rest, { ...facts, domain, streamId });
      return codeOf(call(relay.client, 'RotateEdgeKey', fields(rest, field(1, envelope))));
    };
    expect(await send('windlass-edge-heartbeat-v1', '')).toBe('UNAUTHENTICATED');
    expect(await send('windlass-edge-rotation-v1', 'x')).toBe('UNAUTHENTICATED');
    // The envelope is proven; the new key is not.
    expect(await send('windlass-edge-rotation-v1', '')).toBe('INVALID_ARGUMENT');
  });
});
