import { randomUUID } from 'node:crypto';
import type { Client } from '@grpc/grpc-js';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { edgeLimits } from '../../../lib/edge/index.ts';
import { readRelayConfig, servesEdge } from '../../../relay/config.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { field, fields } from '../../support/wire.ts';
import {
  attestation,
  call,
  challenge,
  codeOf,
  enrollByWire,
  newKey,
  rawOf,
  type WireStream,
} from '../../support/wire-daemon.ts';
import { anyAddress, ProtocolWorld } from './protocol-world.ts';

let world: ProtocolWorld;
let relay: TestRelay & { readonly client: Client };

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
beforeEach(async () => {
  relay = await world.relay();
});
afterEach(() => world.clear());

const attest = (request: Uint8Array): Promise<string> =>
  codeOf(call(relay.client, 'AttestNode', request, anyAddress()));

/** Values of NodeRole: 0, and three that it does not have. */
const otherRoles = [0, 2, 2_147_483_647, -1];

describe('AttestNode', () => {
  it('EDGE-PROTO-04 EDGE-FLOW-01 takes the role 1, a key, and nothing else', async () => {
    const attested = await call(relay.client, 'AttestNode', attestation(rawOf(newKey())), anyAddress());
    expect(attested.numbers).toEqual([1, 2, 3]);
    expect(attested.bytes(2).length).toBe(32);
    const left = Number(attested.message(3).number(1)) * 1_000 - Date.now();
    expect(left).toBeGreaterThan(edgeLimits.attestationMs - 5_000);
    expect(left).toBeLessThanOrEqual(edgeLimits.attestationMs);
  });

  it.each(otherRoles)('EDGE-PROTO-04 refuses the role %d', async (role) => {
    expect(await attest(fields(field(1, role), field(2, rawOf(newKey()))))).toBe('INVALID_ARGUMENT');
  });

  it.each<[what: string, code: string, more: Buffer]>([
    ['a version of 64 characters', 'OK', field(3, 'v'.repeat(64))],
    ['a version of 65 characters', 'INVALID_ARGUMENT', field(3, 'v'.repeat(65))],
    ['a name of 253 characters', 'OK', field(4, 'n'.repeat(253))],
    ['a name of 254 characters', 'INVALID_ARGUMENT', field(4, 'n'.repeat(254))],
    ['an unknown field', 'OK', field(15, 'x')],
  ])('answers %s with %s', async (_what, code, more) => {
    expect(await attest(attestation(rawOf(newKey()), [more]))).toBe(code);
  });

  it.each([
    [31, 'INVALID_ARGUMENT'],
    [32, 'OK'],
    [33, 'INVALID_ARGUMENT'],
  ])('answers a key of %d bytes with %s', async (bytes, code) => {
    const key = rawOf(newKey());
    expect(await attest(attestation(fields(key, key).subarray(0, bytes)))).toBe(code);
  });

  it.each([
    ['65,536', 0, 'OK'],
    ['65,537', 1, 'RESOURCE_EXHAUSTED'],
  ])('answers a request of %s bytes with %s', async (_what, more, code) => {
    const frame = attestation(rawOf(newKey()), [field(15, 'x'.repeat(60_000))]).length - 60_000;
    const request = attestation(rawOf(newKey()), [field(15, 'x'.repeat(65_536 + more - frame))]);
    expect(request.length).toBe(65_536 + more);
    expect(await attest(request)).toBe(code);
  });

  it('EDGE-TOOL-08 EDGE-FLOW-27 counts five a minute and address, and a sixth at the end of the minute', async () => {
    const from = anyAddress();
    const attempt = (): Promise<string> => codeOf(call(relay.client, 'AttestNode', attestation(rawOf(newKey())), from));
    const first = world.clock.now();
    for (let time = 0; time < 5; time += 1) expect(await attempt()).toBe('OK');
    expect(await attempt()).toBe('RESOURCE_EXHAUSTED');
    world.aheadMs = 59_000 - (world.clock.now() - first);
    expect(await attempt()).toBe('RESOURCE_EXHAUSTED');
    world.aheadMs = 61_000;
    expect(await attempt()).toBe('OK');
  });
});

describe('ChallengeNode', () => {
  /** The code of an enrollment whose last request is changed. */
  async function ended(
    given: { readonly token?: string; readonly role?: number; readonly waitMs?: number },
    rewrite: (request: Buffer) => Buffer = (request) => request,
  ): Promise<string> {
    const key = newKey();
    const attested = await call(relay.client, 'AttestNode', attestation(rawOf(key)), anyAddress());
    const token = given.token ?? (await world.token());
    const { role } = given;
    const request = challenge({ key, attested, token, ...(role !== undefined && { role }) });
    world.aheadMs = given.waitMs ?? 0;
    return codeOf(call(relay.client, 'ChallengeNode', rewrite(request)));
  }

  it('EDGE-FLOW-28 EDGE-PROTO-03 needs nothing but the token: no Bearer, no certificate', async () => {
    const host = await enrollByWire(relay.client, await world.token(), anyAddress());
    expect(host.answer.numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect((await world.status(host))?.status).toBe('Disconnected');
  });

  it.each(otherRoles)('EDGE-PROTO-04 refuses the role %d', async (role) => {
    expect(await ended({ role })).toBe('INVALID_ARGUMENT');
  });

  it('EDGE-FLOW-28 refuses a request without a token, or with it under another number', async () => {
    expect(await ended({ token: '' })).toBe('INVALID_ARGUMENT');
    const token = await world.token();
    expect(await ended({ token: '' }, (request) => fields(request, field(5, token)))).toBe('INVALID_ARGUMENT');
  });

  it('refuses a signature by another key, and one over another nonce', async () => {
    const token = await world.token();
    const [mine, other] = [newKey(), newKey()];
    const attested = await call(relay.client, 'AttestNode', attestation(rawOf(mine)), anyAddress());
    const again = await call(relay.client, 'AttestNode', attestation(rawOf(mine)), anyAddress());
    const tell = (request: Buffer): Promise<string> => codeOf(call(relay.client, 'ChallengeNode', request));
    expect(await tell(challenge({ key: other, attested, token }))).toBe('UNAUTHENTICATED');
    // The nonce of one attestation with the id of another.
    const mixed = challenge({ key: mine, attested, token });
    const crossed = fields(field(1, again.text(1)), mixed.subarray(field(1, attested.text(1)).length));
    expect(await tell(crossed)).toBe('UNAUTHENTICATED');
    expect(await tell(challenge({ key: mine, attested, token }))).toBe('OK');
  });

  it('redeems twenty times by one attestation at one relay, and continues by the next one', async () => {
    const key = newKey();
    const token = await world.token();
    const attest = () => call(relay.client, 'AttestNode', attestation(rawOf(key)), anyAddress());
    const redeemBy = async (attested: Awaited<ReturnType<typeof attest>>): Promise<string> =>
      codeOf(call(relay.client, 'ChallengeNode', challenge({ key, attested, token })));
    const first = await attest();
    const codes: string[] = [];
    for (let time = 0; time < 21; time += 1) codes.push(await redeemBy(first));
    expect(codes).toEqual([...Array<string>(20).fill('OK'), 'RESOURCE_EXHAUSTED']);
    expect(await redeemBy(await attest())).toBe('OK');
  });

  it.each([
    [59_000, 'OK'],
    [61_000, 'NOT_FOUND'],
  ])('answers %d ms after the attestation with %s', async (waitMs, code) => {
    expect(await ended({ waitMs })).toBe(code);
  });

  const mint = (claims: object, changes: { readonly key?: ReturnType<typeof newKey> } = {}): Promise<string> => {
    const iat = Math.floor(Date.now() / 1_000);
    const facts = { iss: 'windlass', aud: 'edge-enrollment', sub: 'ops', tid: 'acme', jti: randomUUID() };
    return new SignJWT({ ...facts, iat, nbf: iat, exp: iat + 900, ...claims })
      .setProtectedHeader({ alg: 'EdDSA' })
      .sign(changes.key ?? world.edgeKey.privateKey);
  };
  const now = (): number => Math.floor(Date.now() / 1_000);

  it.each<[ids: string, what: string, code: string, token: () => Promise<string>]>([
    ['', 'as the API issues it', 'OK', () => mint({})],
    ['EDGE-TOOL-07', 'that lives 899 s', 'OK', () => mint({ exp: now() + 899 })],
    ['EDGE-TOOL-07', 'that lives 901 s', 'UNAUTHENTICATED', () => mint({ exp: now() + 901 })],
    ['', 'that another key has signed', 'UNAUTHENTICATED', () => mint({}, { key: newKey() })],
    ['', 'that the relay has signed', 'UNAUTHENTICATED', () => mint({}, { key: world.relayKey.privateKey })],
    ['', 'for another audience', 'UNAUTHENTICATED', () => mint({ aud: 'edge-node' })],
    ['', 'of another issuer', 'UNAUTHENTICATED', () => mint({ iss: 'other' })],
    ['', 'that has expired', 'UNAUTHENTICATED', () => mint({ iat: now() - 900, nbf: now() - 900, exp: now() - 1 })],
    ['', 'that does not count yet', 'UNAUTHENTICATED', () => mint({ nbf: now() + 60 })],
    ['', 'without nbf', 'UNAUTHENTICATED', () => mint({ nbf: undefined })],
    ['', 'without a tenant', 'UNAUTHENTICATED', () => mint({ tid: undefined })],
    ['', 'without jti', 'UNAUTHENTICATED', () => mint({ jti: undefined })],
    [
      '',
      'of 4097 characters',
      'UNAUTHENTICATED',
      async () => (await mint({ pad: 'x'.repeat(3_500) })).padEnd(4_097, 'x'),
    ],
  ])('EDGE-FLOW-28 EDGE-RES-30 %s answers a token %s with %s', async (_ids, _what, code, token) => {
    expect(await ended({ token: await token() })).toBe(code);
  });

  it('EDGE-RES-32 EDGE-AUTH-12 binds a host to the tenant of its token, and to no other', async () => {
    const host = await world.enroll(relay.client, 'globex');
    expect(host.answer.text(8)).toBe('globex');
    expect(await world.hosts.find('globex', host.nodeId)).toBeDefined();
    expect(await world.hosts.find('acme', host.nodeId)).toBeUndefined();
    const claims = JSON.parse(Buffer.from(host.token.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).toMatchObject({ tid: 'globex', sub: host.nodeId });
  });
});

describe('the role of the process', () => {
  /** How a stream ends that sends something else before its Hello: at once, in place of ten seconds later without it. */
  const endOf = (stream: WireStream): Promise<string> => {
    stream.heartbeat();
    return stream.ended;
  };

  it.each([
    ['Controller', 'OK'],
    ['Hybrid', 'OK'],
    ['RelayCoordinator', 'OK'],
    ['Worker', 'UNIMPLEMENTED'],
  ])(
    'EDGE-FLOW-30 EDGE-FLOW-31 AMB-111 %s answers each method with %s',
    async (role, code) => {
      const env = { WINDLASS_RELAY_KEY: '/k', WINDLASS_NATS_URL: 'nats://x', WINDLASS_NODE_ROLE: role };
      const { client } = await world.relay({ isWorker: !servesEdge(readRelayConfig(env)) });
      const serves = (codes: readonly string[]): boolean[] => codes.map((one) => one !== 'UNIMPLEMENTED');
      const codes = [
        await codeOf(call(client, 'AttestNode', attestation(rawOf(newKey())), anyAddress())),
        await codeOf(call(client, 'ChallengeNode', Buffer.alloc(0))),
        await codeOf(call(client, 'RotateEdgeKey', Buffer.alloc(0))),
        await endOf(world.open(client, await world.enroll(relay.client))),
      ];
      expect(codes[0]).toBe(code);
      expect(serves(codes)).toEqual(Array<boolean>(4).fill(role !== 'Worker'));
    },
    30_000,
  );
});
