import type { Client } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ProtocolWorld, anyAddress } from '../../contract/edge-protocol/protocol-world.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { field, fields } from '../../support/wire.ts';
import {
  attestation,
  call,
  challenge,
  codeOf,
  envelopeOf,
  newKey,
  rawOf,
  rotation,
  type WireHost,
} from '../../support/wire-daemon.ts';

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

const prime = 2n ** 255n - 19n;
const four = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
/** y of the points of orders 1, 2, 4 and 8, and of every second encoding that has room in 255 bits. */
const ys = [0n, 1n, prime - 1n, four, prime - four, prime, prime + 1n, 2n ** 255n - 1n];
const encodings = ys.flatMap((y) =>
  [0n, 1n].map((sign) => {
    const hex = (y | (sign << 255n)).toString(16).padStart(64, '0');
    return Buffer.from(hex, 'hex').reverse();
  }),
);

describe('keys that prove nothing', () => {
  it('AMB-142 are refused at AttestNode and at RotateEdgeKey: 16 encodings', async () => {
    expect(new Set(encodings.map((key) => key.toString('hex'))).size).toBe(16);
    for (const key of encodings) {
      const attested = codeOf(call(relay.client, 'AttestNode', attestation(key), anyAddress()));
      expect([key.toString('hex'), await attested]).toEqual([key.toString('hex'), 'INVALID_ARGUMENT']);
      // Some verifiers take this signature of a point of small order for any message.
      const proof = Buffer.concat([key, Buffer.alloc(32)]);
      const rotated = codeOf(
        call(relay.client, 'RotateEdgeKey', rotation({ host, newKey: newKey(), publicKey: key, proof })),
      );
      expect([key.toString('hex'), await rotated]).toEqual([key.toString('hex'), 'INVALID_ARGUMENT']);
    }
    expect((await world.status(host))?.keys).toEqual({ current: rawOf(host.key).toString('base64') });
  });

  it('EDGE-FLOW-02 an attestation of one key does not end the enrollment of another', async () => {
    const [mine, other] = [newKey(), newKey()];
    const attested = await call(relay.client, 'AttestNode', attestation(rawOf(mine)), anyAddress());
    const token = await world.token();
    const request = challenge({ key: other, attested, token });
    expect(await codeOf(call(relay.client, 'ChallengeNode', request))).toBe('UNAUTHENTICATED');
    // The token is not redeemed by it.
    const right = challenge({ key: mine, attested, token });
    expect(await codeOf(call(relay.client, 'ChallengeNode', right))).toBe('OK');
  });
});

describe('rotations', () => {
  it('EDGE-FLOW-20 EDGE-FLOW-23 to the key of another host are refused, with the proof of that host too', async () => {
    const other = await world.enroll(relay.client);
    const theirs = rawOf(other.key);
    // A message that the other host once sent for a rotation of its own.
    const recorded = rotation({ host: other, newKey: other.key });
    const proof = recorded.subarray(fields(field(2, theirs)).length + 2, fields(field(2, theirs)).length + 66);
    // The last proof is a right one: both hosts are in the same hands.
    for (const given of [{ publicKey: theirs }, { publicKey: theirs, proof }, { newKey: other.key }]) {
      const request = rotation({ host, newKey: newKey(), ...given });
      expect(await codeOf(call(relay.client, 'RotateEdgeKey', request))).toBe('INVALID_ARGUMENT');
    }
    expect((await world.status(host))?.keys.current).toBe(rawOf(host.key).toString('base64'));
    expect((await world.status(other))?.keys.current).toBe(theirs.toString('base64'));
    // Once that host has another key, no host has this one.
    await call(relay.client, 'RotateEdgeKey', rotation({ host: other, newKey: newKey() }));
    expect(await codeOf(call(relay.client, 'RotateEdgeKey', rotation({ host, newKey: other.key })))).toBe('OK');
  });

  it('EDGE-FLOW-26 of twenty at once over two relays leave one key, and one token that counts', async () => {
    const two = [relay, await world.relay()];
    const keys = Array.from({ length: 20 }, newKey);
    const answers = await Promise.all(
      keys.map(async (key, at) => {
        const client = two[at % 2]?.client ?? relay.client;
        const rotated = call(client, 'RotateEdgeKey', rotation({ host, newKey: key }));
        const code = await codeOf(rotated);
        return { key, code, token: code === 'OK' ? (await rotated).text(1) : '' };
      }),
    );
    const won = answers.filter(({ code }) => code === 'OK');
    expect(won).toHaveLength(1);
    // A loser has read the host before the winner has written, or after it.
    const lost = new Set(answers.filter(({ code }) => code !== 'OK').map(({ code }) => code));
    expect([...lost].every((code) => code === 'ABORTED' || code === 'UNAUTHENTICATED')).toBe(true);
    const [winner] = won;
    expect((await world.status(host))?.keys.current).toBe(rawOf(winner?.key ?? newKey()).toString('base64'));
    const stale = world.open(relay.client, host);
    stale.hello();
    expect(await stale.ended).toBe('UNAUTHENTICATED');
    await world.connected(relay.client, { ...host, key: winner?.key ?? newKey(), token: winner?.token ?? '' });
  });

  it('that are replayed change nothing', async () => {
    const [first, second] = [newKey(), newKey()];
    const request = rotation({ host, newKey: first });
    const token = (await call(relay.client, 'RotateEdgeKey', request)).text(1);
    const rotate = (bytes: Uint8Array): Promise<string> => codeOf(call(relay.client, 'RotateEdgeKey', bytes));
    expect(await rotate(request)).toBe('UNAUTHENTICATED');
    expect(await rotate(rotation({ host: { ...host, key: first, token }, newKey: second }))).toBe('OK');
    expect(await rotate(request)).toBe('UNAUTHENTICATED');
    expect((await world.status(host))?.keys.current).toBe(rawOf(second).toString('base64'));
  });

  it('signed for a stream do not count, and an event signed as a rotation does not either', async () => {
    const stream = await world.connected(relay.client, host);
    stream.heartbeat({ domain: 'windlass-edge-rotation-v1' });
    expect(await stream.ended).toBe('UNAUTHENTICATED');
    const rest = fields(field(2, rawOf(host.key)), field(3, Buffer.alloc(64)));
    const { streamId } = stream;
    const { key, nodeId, token } = host;
    const facts = { key, nodeId, token, domain: 'windlass-edge-heartbeat-v1', streamId, sequence: 9n };
    const request = fields(rest, field(1, envelopeOf(rest, facts)));
    expect(await codeOf(call(relay.client, 'RotateEdgeKey', request))).toBe('UNAUTHENTICATED');
  });
});
