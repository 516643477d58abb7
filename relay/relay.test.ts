import { generateKeyPairSync, randomInt, randomUUID } from 'node:crypto';
import { credentials, status } from '@grpc/grpc-js';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EdgeHostStatus } from '../crds/schema/edge-host.ts';
import type { BucketDefinition } from '../lib/bus/index.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import {
  createEdgeResults,
  createHeartbeats,
  createHostCommands,
  createRecentCommands,
  type EdgeEventCase,
  type EdgeNews,
  edgeBuckets,
  type HeldStream,
  type LivingRelay,
  mintEnrollmentToken,
} from '../lib/edge/index.ts';
import { AppError } from '../lib/errors.ts';
import { HealthClient } from '../proto/generated/health/v1/health.ts';
import { EdgeCapabilities, type NodeClusterServiceClient } from '../proto/generated/windlass/node/v1/node.ts';
import { startTestBus, type TestBus } from '../test/nats/test-bus.ts';
import {
  type EdgeIdentity,
  EdgeStream,
  edgeClient,
  edgeKeys,
  enroll as enrollAt,
  rotate,
} from '../test/support/edge-client.ts';
import { createMemoryHosts, type MemoryHosts } from '../test/support/memory-hosts.ts';
import { silentLogger } from '../test/support/silent-logger.ts';
import { startTestRelay, type TestRelay, type TestRelayOptions } from '../test/support/test-relay.ts';
import { watchOver } from './watch-over.ts';

const edgeKey = generateKeyPairSync('ed25519');
const relayKey = generateKeyPairSync('ed25519');

interface Relay extends TestRelay {
  readonly client: NodeClusterServiceClient;
}

let nats: TestBus;
let hosts: MemoryHosts;
let aheadMs: number;
/** The steady clock of the relays, where a test holds it. */
let steady: number | undefined;
const clock = {
  ...systemClock,
  now: () => systemClock.now() + aheadMs,
  steadyMs: () => steady ?? systemClock.steadyMs(),
};
let relays: Relay[] = [];
let open: EdgeStream[] = [];

beforeAll(async () => {
  nats = await startTestBus();
}, 60_000);
afterAll(() => nats.stop());
beforeEach(() => {
  hosts = createMemoryHosts();
  aheadMs = 0;
  steady = undefined;
});
afterEach(async () => {
  for (const stream of open) stream.close();
  for (const { client, listener } of relays) {
    client.close();
    await listener.close(AbortSignal.abort());
  }
  open = [];
  relays = [];
});

async function startRelay(
  options: Partial<Pick<TestRelayOptions, 'bus' | 'clock' | 'isWorker' | 'heartbeatMs' | 'staleMs'>> = {},
): Promise<Relay> {
  const keys = { relayKey, edgePublicKey: edgeKey.publicKey };
  const proxies = ['127.0.0.1'];
  const started = await startTestRelay({ bus: nats.connect(), hosts, ...keys, clock, proxies, ...options });
  const relay = { ...started, client: edgeClient(started.listener.port) };
  relays.push(relay);
  return relay;
}

const tokenFor = (jti: string): Promise<string> =>
  mintEnrollmentToken(edgeKey.privateKey, { jti, tid: 'acme', issuedBy: 'ops', now: Date.now(), ttlSeconds: 900 });
/** For a busy machine. */
const within = { timeout: 10_000 };
const anyAddress = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
const enroll = async ({ client }: Relay, jti = randomUUID(), keys = edgeKeys()): Promise<EdgeIdentity> =>
  enrollAt(client, await tokenFor(jti), { keys, from: anyAddress() });
const connect = ({ client }: Relay, identity: EdgeIdentity): EdgeStream => {
  const stream = new EdgeStream(client, identity);
  open.push(stream);
  return stream;
};
const statusOf = async ({ enrolled }: EdgeIdentity): Promise<EdgeHostStatus | undefined> =>
  (await hosts.find('acme', enrolled.nodeId))?.object.status;
const becomes = (identity: EdgeIdentity, state: string) =>
  vi.waitFor(async () => expect((await statusOf(identity))?.status).toBe(state), { timeout: 5_000 });
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'OK',
    (error: { readonly code: number }) => status[error.code] ?? 'unknown',
  );
/** As a store of NATS is that was lost with its volume. */
async function loseStreams(isLost: (name: string) => boolean): Promise<void> {
  const connection = await connectNats({ servers: nats.server.url });
  const { streams } = await jetstreamManager(connection);
  for await (const { config } of streams.list()) {
    if (isLost(config.name)) await streams.delete(config.name);
  }
  await connection.close();
}
const loseEntries = (): Promise<void> => loseStreams((name) => name.endsWith(edgeBuckets.streams.name));

/** Reads of entries of streams from now on. */
async function readsOfEntries() {
  const connection = await connectNats({ servers: nats.server.url });
  const asked: string[] = [];
  connection.subscribe('$JS.API.STREAM.MSG.GET.>', {
    callback: (_error, { subject }) => void (subject.endsWith(edgeBuckets.streams.name) && asked.push(subject)),
  });
  await connection.flush();
  return { asked, close: () => connection.close() };
}

const addressOf = async ({ enrolled }: EdgeIdentity) => ({
  tenant: 'acme',
  hostUid: (await hosts.find('acme', enrolled.nodeId))?.object.metadata.uid ?? '',
  nodeId: enrolled.nodeId,
});

/** The clock of the watch over streams, fifty times as fast. */
function watched({ bus, streams, relayId }: Relay): AsyncDisposable {
  const stop = new AbortController();
  const fast = {
    ...clock,
    steadyMs: () => 50 * systemClock.steadyMs(),
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal),
  };
  const deps = { clock: fast, logger: silentLogger, bus, hosts, streams, relayId, staleMs: 90_000 };
  const ended = watchOver(deps, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

describe('enrollment', () => {
  it('EDGE-FLOW-01 EDGE-FLOW-02 EDGE-RES-32 AMB-204 makes a Disconnected host of the tenant and gives the same key the same answer', async () => {
    const relay = await startRelay();
    const jti = randomUUID();
    const identity = await enroll(relay, jti);
    expect(identity.enrolled.tenantId).toBe('acme');
    const stored = await statusOf(identity);
    expect(stored).toMatchObject({ status: 'Disconnected', node_id: identity.enrolled.nodeId });
    expect(stored?.since).toBe(stored?.enrolled_at);
    const again = await enroll(relay, jti, identity.keys);
    expect(again.enrolled).toEqual(identity.enrolled);
    await expect(enroll(relay, jti)).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
      details: 'the enrollment token was redeemed already; issue another one',
    });
    hosts.remove('acme', identity.enrolled.nodeId);
    expect(await codeOf(enroll(relay, jti, identity.keys))).toBe('UNAUTHENTICATED');
  });

  it('EDGE-RES-31 has one winner among 200 redeemers at two relays', async () => {
    const two = [await startRelay(), await startRelay()];
    const jti = randomUUID();
    const codes = await Promise.all(
      Array.from({ length: 200 }, async (_, at) => codeOf(enroll(two[at % 2] ?? (await startRelay()), jti))),
    );
    expect(codes.filter((code) => code === 'OK')).toHaveLength(1);
    expect(codes.filter((code) => code === 'UNAUTHENTICATED')).toHaveLength(199);
    expect([...hosts.known()]).toHaveLength(1);
  }, 30_000);

  it('is finished by the same key where a crash left a redeemed token without a host', async () => {
    const relay = await startRelay();
    const jti = randomUUID();
    const keys = edgeKeys();
    const write = vi.spyOn(hosts, 'create').mockRejectedValueOnce(new Error('crash'));
    expect(await codeOf(enroll(relay, jti, keys))).toBe('INTERNAL');
    write.mockRestore();
    expect(await codeOf(enroll(relay, jti))).toBe('UNAUTHENTICATED');
    expect(await codeOf(enroll(relay, jti, keys))).toBe('OK');
  });

  const quota = () => new AppError('limit_exceeded', 'the quota of hosts is used up', { reason: 'QuotaExceeded' });
  it.each(['create', 'write'] as const)(
    'EDGE-FLOW-02 leaves nothing where the server refuses to %s the host: any key may use the token',
    async (call) => {
      const relay = await startRelay();
      const jti = randomUUID();
      const refused = vi.spyOn(hosts, call).mockRejectedValueOnce(quota());
      expect(await codeOf(enroll(relay, jti))).toBe('RESOURCE_EXHAUSTED');
      refused.mockRestore();
      expect([...hosts.known()]).toEqual([]);
      const other = await enroll(relay, jti);
      expect((await statusOf(other))?.status).toBe('Disconnected');
      expect(await codeOf(enroll(relay, jti))).toBe('UNAUTHENTICATED');
    },
  );

  it('EDGE-FLOW-02 keeps a host that the same key has bound meanwhile, where the server refuses a second call', async () => {
    const relay = await startRelay();
    const [jti, keys] = [randomUUID(), edgeKeys()];
    const write = hosts.write.bind(hosts);
    const spy = vi.spyOn(hosts, 'write').mockImplementationOnce(async (host, status) => {
      await write(host, status);
      throw quota();
    });
    expect(await codeOf(enroll(relay, jti, keys))).toBe('RESOURCE_EXHAUSTED');
    spy.mockRestore();
    expect([...hosts.known()]).toHaveLength(1);
    expect(await codeOf(enroll(relay, jti))).toBe('UNAUTHENTICATED');
    expect(await codeOf(enroll(relay, jti, keys))).toBe('OK');
  });

  it('EDGE-FLOW-27 AMB-111 takes five attestations a minute of an address over all relays, and a sixth of another', async () => {
    const [one, other] = [await startRelay(), await startRelay()];
    const token = `${await tokenFor('never')}x`;
    const from = '2001:db8:0:1::1';
    const attempt = ({ client }: Relay, address: string): Promise<string> =>
      codeOf(enrollAt(client, token, { from: address }));
    for (const relay of [one, other, one, other, one]) expect(await attempt(relay, from)).toBe('UNAUTHENTICATED');
    // The first 64 bits are one address.
    for (const relay of [other, one]) expect(await attempt(relay, '2001:db8:0:1:ffff::2')).toBe('RESOURCE_EXHAUSTED');
    expect(await attempt(other, '2001:db8:0:2::1')).toBe('UNAUTHENTICATED');
    // The calls before took a few seconds themselves where the machine is busy.
    aheadMs = 45_000;
    expect(await attempt(other, from)).toBe('RESOURCE_EXHAUSTED');
    aheadMs = 61_000;
    expect(await attempt(other, from)).not.toBe('RESOURCE_EXHAUSTED');
  });

  it('EDGE-FLOW-27 takes five of forty attestations that an address sends at once to two relays', async () => {
    const first = await startRelay();
    const two = [first, await startRelay()];
    const token = `${await tokenFor('never')}x`;
    const codes = await Promise.all(
      Array.from({ length: 40 }, async (_, at) =>
        codeOf(enrollAt((two[at % 2] ?? first).client, token, { from: '192.0.2.7' })),
      ),
    );
    expect(codes.filter((code) => code === 'UNAUTHENTICATED')).toHaveLength(5);
    expect(codes.filter((code) => code === 'RESOURCE_EXHAUSTED')).toHaveLength(35);
  });

  it('AMB-142 refuses keys of small order and of another length', async () => {
    const { client } = await startRelay();
    for (const publicKey of [Buffer.alloc(32), Buffer.alloc(31, 1), Buffer.alloc(0)]) {
      const call = new Promise((resolve, reject) => {
        client.attestNode({ role: 1, publicKey, version: '', name: '' }, (error, answer) =>
          error === null ? resolve(answer) : reject(error),
        );
      });
      expect(await codeOf(call)).toBe('INVALID_ARGUMENT');
    }
  });

  it('EDGE-FLOW-31 AMB-111 is not served by a Worker, which answers health', async () => {
    const worker = await startRelay({ isWorker: true });
    expect(await codeOf(enroll(worker))).toBe('UNIMPLEMENTED');
    const health = new HealthClient(`127.0.0.1:${worker.listener.port}`, credentials.createInsecure());
    const answer = await new Promise((resolve, reject) => {
      health.check({ service: '' }, (error, reply) => (error === null ? resolve(reply.status) : reject(error)));
    });
    health.close();
    // EDGE-PROTO-05: SERVING
    expect(answer).toBe(1);
  });
});

describe('the stream of a host', () => {
  it('EDGE-FLOW-04 EDGE-FLOW-08 EDGE-FLOW-09 connects by its Hello, and writes news at a heartbeat', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    expect((await statusOf(identity))?.capabilities).toMatchObject({ os: 'linux', local_tools: ['cmd.run'] });
    const capabilities = EdgeCapabilities.create({ os: 'linux', arch: 'arm64', customLabels: { zone: 'b' } });
    stream.send({ $case: 'capabilityUpdate', value: { envelope: undefined, capabilities } });
    const before = hosts.writes();
    stream.heartbeat();
    await vi.waitFor(async () => expect((await statusOf(identity))?.capabilities?.arch).toBe('arm64'));
    for (let beat = 0; beat < 5; beat += 1) stream.heartbeat();
    await systemClock.sleep(100);
    expect(hosts.writes()).toBe(before + 1);
  });

  it('EDGE-FLOW-08 has its news written four times at once and then once in 30 s, over all of its streams', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const { hostUid } = await addressOf(identity);
    const before = hosts.writes();
    const news = async (stream: EdgeStream, count: number): Promise<void> => {
      for (let turn = 1; turn <= count; turn += 1) {
        const customLabels = { turn: String(turn) };
        const capabilities = EdgeCapabilities.create({ os: 'linux', arch: 'arm64', customLabels });
        stream.send({ $case: 'capabilityUpdate', value: { envelope: undefined, capabilities } });
        stream.heartbeat();
      }
      const taken = (): string | undefined => relay.streams.get(hostUid)?.capabilities.labels['turn'];
      await vi.waitFor(() => expect(taken()).toBe(String(count)), { timeout: 10_000 });
      await systemClock.sleep(100);
    };
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    await news(stream, 50);
    expect(hosts.writes() - before).toBe(4);
    // A new stream begins with other capabilities, and gets no checkpoint of its own.
    const again = connect(relay, identity);
    again.hello();
    expect(await stream.ended).toBe('ABORTED');
    await news(again, 20);
    expect(hosts.writes() - before).toBe(4);
    steady = systemClock.steadyMs() + 30_000;
    for (let beat = 0; beat < 3; beat += 1) again.heartbeat();
    await vi.waitFor(async () => expect((await statusOf(identity))?.capabilities?.labels).toEqual({ turn: '20' }));
    await news(again, 30);
    expect(hosts.writes() - before).toBe(5);
    // State is not held up.
    steady += 90_001;
    await relay.streams.checkHeartbeats();
    await becomes(identity, 'Unhealthy');
  });

  const progress: EdgeEventCase = {
    $case: 'commandProgress',
    value: { envelope: undefined, commandId: 'c', chunk: undefined },
  };
  const cases: readonly (readonly [string, string, (stream: EdgeStream, other: EdgeIdentity) => void])[] = [
    ['EDGE-FLOW-03 a first message that is no Hello', 'INVALID_ARGUMENT', (stream) => void stream.heartbeat()],
    ['EDGE-FLOW-03 a second Hello', 'INVALID_ARGUMENT', (stream) => void [stream.hello(), stream.hello()]],
    ['bytes that are no message', 'INVALID_ARGUMENT', (stream) => void [stream.hello(), stream.raw(Buffer.from('x'))]],
    [
      'EDGE-FLOW-05 a message that is repeated',
      'UNAUTHENTICATED',
      (stream) => {
        stream.hello();
        stream.raw(stream.heartbeat());
      },
    ],
    [
      'EDGE-FLOW-05 a sequence that falls',
      'UNAUTHENTICATED',
      (stream) => {
        stream.hello();
        stream.sequence = 0n;
        stream.heartbeat();
      },
    ],
    [
      'EDGE-FLOW-05 the envelope of another host',
      'UNAUTHENTICATED',
      (stream, other) => void [stream.hello(), stream.send(progress, { identity: other })],
    ],
    [
      'EDGE-FLOW-05 another node id under the own key',
      'UNAUTHENTICATED',
      (stream, other) => void [stream.hello(), stream.send(progress, { nodeId: other.enrolled.nodeId })],
    ],
  ];
  for (const [what, code, act] of cases) {
    it(`${what} ends it with ${code}`, async () => {
      const relay = await startRelay();
      const stream = connect(relay, await enroll(relay));
      act(stream, await enroll(relay));
      expect(await stream.ended).toBe(code);
    });
  }

  it('EDGE-FLOW-29 needs a token that counts', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const with_ = (nodeSecurityToken: string): EdgeStream =>
      connect(relay, { ...identity, enrolled: { ...identity.enrolled, nodeSecurityToken } });
    expect(await with_('').ended).toBe('UNAUTHENTICATED');
    expect(await with_('a.b.c').ended).toBe('UNAUTHENTICATED');
    aheadMs = 86_400_000;
    expect(await connect(relay, identity).ended).toBe('UNAUTHENTICATED');
  });

  it('AMB-095 is replaced by a newer one, at the same relay and at another', async () => {
    const [one, other] = [await startRelay(), await startRelay()];
    const identity = await enroll(one);
    const first = connect(one, identity);
    first.hello();
    await becomes(identity, 'Connected');
    const second = connect(one, identity);
    second.hello();
    expect(await first.ended).toBe('ABORTED');
    const third = connect(other, identity);
    third.hello();
    expect(await second.ended).toBe('ABORTED');
    await createHostCommands({ bus: one.bus }).drain(await addressOf(identity));
    await vi.waitFor(() => expect(third.commands.map(({ command }) => command?.$case)).toEqual(['drain']));
  });

  it('EDGE-FLOW-16 gets commands for longer than the entry of its stream lives', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    const address = await addressOf(identity);
    const entries = relay.bus.bucket<HeldStream>(edgeBuckets.streams);
    const first = await entries.get(address.hostUid);
    const sender = createHostCommands({ bus: nats.connect() });
    await sender.drain(address);
    const halfLife = edgeBuckets.streams.ttlMs / 2;
    const heldAt = relay.streams.get(address.hostUid)?.heldAt ?? 0;
    const ahead = vi.spyOn(clock, 'now').mockReturnValue(heldAt + halfLife - 1);
    await relay.streams.renewEntries();
    expect((await entries.get(address.hostUid))?.revision).toBe(first?.revision);
    ahead.mockReturnValue(heldAt + halfLife);
    await relay.streams.renewEntries();
    ahead.mockRestore();
    const renewed = await entries.get(address.hostUid);
    expect(renewed?.revision).toBeGreaterThan(first?.revision ?? 0);
    expect(renewed?.value.relay).toBe(relay.relayId);
    // A sender that knows the old place of the stream, and one that looks it up.
    await sender.drain(address);
    await createHostCommands({ bus: nats.connect() }).drain(address);
    await vi.waitFor(() => expect(stream.commands).toHaveLength(3));
  });

  it('EDGE-FLOW-16 is entered again where the bus has lost its entry, and ends where another relay has it', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    const address = await addressOf(identity);
    const entries = relay.bus.bucket<HeldStream>(edgeBuckets.streams);
    await entries.delete(address.hostUid, (await entries.get(address.hostUid))?.revision ?? 0);
    aheadMs = edgeBuckets.streams.ttlMs;
    await relay.streams.renewEntries();
    aheadMs = 0;
    await createHostCommands({ bus: nats.connect() }).drain(address);
    const entry = await entries.get(address.hostUid);
    const other = { uid: address.hostUid, relay: 'another', at: new Date().toISOString() };
    await entries.update(address.hostUid, other, entry?.revision ?? 0);
    aheadMs = 2 * edgeBuckets.streams.ttlMs;
    await relay.streams.renewEntries();
    expect(await stream.ended).toBe('ABORTED');
  });

  it('EDGE-FLOW-16 gets commands a minute after the bus has lost the entries of all streams', async () => {
    const relay = await startRelay();
    const identities = [await enroll(relay), await enroll(relay)];
    const streams = identities.map((identity) => connect(relay, identity));
    for (const stream of streams) stream.hello();
    for (const identity of identities) await becomes(identity, 'Connected');
    const addresses = await Promise.all(identities.map(addressOf));
    // Both have revisions that a new store does not reach soon.
    aheadMs = edgeBuckets.streams.ttlMs;
    await relay.streams.renewEntries();
    await loseEntries();
    aheadMs += 60_000;
    await vi.waitFor(() => relay.streams.renewEntries(), { timeout: 60_000 });
    const sender = createHostCommands({ bus: nats.connect() });
    // The relay may be connecting anew: its connection knows the lost bucket.
    for (const address of addresses) await vi.waitFor(() => sender.drain(address), { timeout: 60_000 });
    await vi.waitFor(() =>
      expect(streams.map(({ commands }) => commands.map(({ command }) => command?.$case))).toEqual([
        ['drain'],
        ['drain'],
      ]),
    );
  });

  it('EDGE-FLOW-16 is looked for in the bus once a minute, and is not written anew where it is there', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    connect(relay, identity).hello();
    await becomes(identity, 'Connected');
    const { hostUid } = await addressOf(identity);
    const entries = relay.bus.bucket<HeldStream>(edgeBuckets.streams);
    const first = await entries.get(hostUid);
    const { asked, close } = await readsOfEntries();
    const heldAt = relay.streams.get(hostUid)?.heldAt ?? 0;
    const ahead = vi.spyOn(clock, 'now');
    for (const ms of [60_000, 119_999, 120_000]) {
      ahead.mockReturnValue(heldAt + ms);
      await relay.streams.renewEntries();
    }
    ahead.mockRestore();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    expect((await entries.get(hostUid))?.revision).toBe(first?.revision);
    await close();
  });

  it('EDGE-FLOW-18 ends when its host is revoked, whose token counts at no relay any more', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    hosts.revoke('acme', identity.enrolled.nodeId);
    const again = connect(await startRelay(), identity);
    for (const { ended, reason } of [stream, again])
      expect([await ended, await reason]).toEqual(['PERMISSION_DENIED', 'HostRevoked']);
    await becomes(identity, 'Revoked');
    expect(await codeOf(rotate(relay.client, identity))).toBe('FAILED_PRECONDITION');
  });

  it('EDGE-FLOW-18 is not needed for a host to be Revoked, which two relays write once', async () => {
    await startRelay();
    const identity = await enroll(await startRelay());
    const before = hosts.writes();
    hosts.revoke('acme', identity.enrolled.nodeId);
    await becomes(identity, 'Revoked');
    expect(hosts.writes()).toBe(before + 1);
  });

  it('EDGE-FLOW-17 AMB-094 AMB-096 is Unhealthy after more than 90 s of silence, and Connected by a heartbeat', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    const heard = relay.streams.get((await addressOf(identity)).hostUid)?.lastHeard ?? 0;
    // A clock that is set anew makes no host silent.
    aheadMs = 3_600_000;
    for (const silence of [89_999, 90_000]) {
      steady = heard + silence;
      await relay.streams.checkHeartbeats();
      expect((await statusOf(identity))?.status).toBe('Connected');
    }
    aheadMs = 0;
    steady = heard + 90_001;
    await relay.streams.checkHeartbeats();
    expect((await statusOf(identity))?.status).toBe('Unhealthy');
    expect(await codeOf(rotate(relay.client, identity))).toBe('FAILED_PRECONDITION');
    stream.heartbeat();
    await becomes(identity, 'Connected');
  });

  it('EDGE-TOOL-09 EDGE-TOOL-10 EDGE-FLOW-17 follows the settings of heartbeats and silence', async () => {
    const relay = await startRelay({ heartbeatMs: 5_000, staleMs: 12_000 });
    const identity = await enroll(relay);
    expect(identity.enrolled.heartbeatInterval).toMatchObject({ seconds: 5n, nanos: 0 });
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    const heard = relay.streams.get((await addressOf(identity)).hostUid)?.lastHeard ?? 0;
    for (const silence of [11_999, 12_000]) {
      steady = heard + silence;
      await relay.streams.checkHeartbeats();
      expect((await statusOf(identity))?.status).toBe('Connected');
    }
    steady = heard + 12_001;
    await relay.streams.checkHeartbeats();
    expect((await statusOf(identity))?.status).toBe('Unhealthy');
  });

  it('EDGE-FLOW-07 EDGE-TOOL-09 asks for a heartbeat every 30 s at the enrollment and at a rotation', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const rotated = await rotate(relay.client, identity);
    const asked = [identity, rotated].map(({ enrolled }) => enrolled.heartbeatInterval);
    expect(asked).toMatchObject([
      { seconds: 30n, nanos: 0 },
      { seconds: 30n, nanos: 0 },
    ]);
  });

  it('AMB-094 leaves its host Disconnected after the grace of 10 s, and not before', async () => {
    const graceMs = 10_000;
    const over = Promise.withResolvers<void>();
    const sleep: Clock['sleep'] = (ms, signal) => (ms === graceMs ? over.promise : systemClock.sleep(ms, signal));
    const relay = await startRelay({ clock: { ...clock, sleep } });
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    await using _one = watched(relay);
    await using _other = watched(await startRelay());
    const { hostUid } = await addressOf(identity);
    stream.close();
    const entries = relay.bus.bucket<HeldStream>(edgeBuckets.streams);
    await vi.waitFor(async () => expect((await entries.get(hostUid))?.value.relay).toBeUndefined(), within);
    aheadMs = graceMs - 5_000;
    // Fifty looks of each relay.
    await systemClock.sleep(1_000);
    expect((await statusOf(identity))?.status).toBe('Connected');
    aheadMs = graceMs;
    over.resolve();
    await becomes(identity, 'Disconnected');
  });

  it('AMB-094 leaves its host Disconnected where the bus was away at its end', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    const { hostUid } = await addressOf(identity);
    const away = vi.spyOn(relay.bus, 'bucket').mockImplementation(() => {
      throw new AppError('unavailable', 'the bus is away');
    });
    stream.close();
    await vi.waitFor(() => expect(relay.streams.get(hostUid)).toBeUndefined());
    await systemClock.sleep(100);
    away.mockRestore();
    await using _ = watched(relay);
    await becomes(identity, 'Disconnected');
    expect((await relay.bus.bucket<HeldStream>(edgeBuckets.streams).get(hostUid))?.value.relay).toBe(relay.relayId);
  });

  it('AMB-094 makes its host Connected again where another relay has taken it for lost', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    connect(relay, identity).hello();
    await becomes(identity, 'Connected');
    const host = await hosts.find('acme', identity.enrolled.nodeId);
    if (host?.object.status === undefined) throw new Error('the host has no status');
    await hosts.write(host, { ...host.object.status, status: 'Disconnected' });
    await vi.waitFor(async () => expect((await statusOf(identity))?.status).toBe('Connected'));
  });

  it('AMB-095 is replaced by a newer one that the bus has entered first, which gets the commands', async () => {
    const bus = nats.connect();
    const bucket = bus.bucket.bind(bus);
    let creates = 0;
    vi.spyOn(bus, 'bucket').mockImplementation(<T>(definition: BucketDefinition) => {
      const real = bucket<T>(definition);
      if (definition.name !== edgeBuckets.streams.name) return real;
      const create: typeof real.create = async (...args) => {
        creates += 1;
        if (creates === 1) await systemClock.sleep(300);
        return real.create(...args);
      };
      return new Proxy(real, { get: (of, name) => (name === 'create' ? create : Reflect.get(of, name)) });
    });
    const relay = await startRelay({ bus });
    const identity = await enroll(relay);
    const first = connect(relay, identity);
    first.hello();
    await vi.waitFor(() => expect(creates).toBe(1));
    const second = connect(relay, identity);
    second.hello();
    expect(await first.ended).toBe('ABORTED');
    await createHostCommands({ bus: nats.connect() }).drain(await addressOf(identity));
    await vi.waitFor(() => expect(second.commands.map(({ command }) => command?.$case)).toEqual(['drain']));
    expect(await Promise.race([second.ended, systemClock.sleep(200).then(() => 'open')])).toBe('open');
  });

  it('EDGE-FLOW-29 begins where the bus answers late, and its entry turns out to be written', async () => {
    const bus = nats.connect();
    const bucket = bus.bucket.bind(bus);
    const late = new AppError('unavailable', 'the event bus did not answer in time');
    const calls: string[] = [];
    vi.spyOn(bus, 'bucket').mockImplementation(<T>(definition: BucketDefinition) => {
      const real = bucket<T>(definition);
      if (definition.name !== edgeBuckets.streams.name) return real;
      const get: typeof real.get = async (key) => {
        calls.push('get');
        if (calls.length === 1) throw late;
        return real.get(key);
      };
      // The entry is written, and the answer comes after its time.
      const create: typeof real.create = async (...args) => {
        calls.push('create');
        await real.create(...args);
        throw late;
      };
      const ours = { get, create } as const;
      return new Proxy(real, { get: (of, name) => Reflect.get(name in ours ? ours : of, name) });
    });
    const relay = await startRelay({ bus });
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    expect(calls).toEqual(['get', 'get', 'create', 'get']);
    await createHostCommands({ bus: nats.connect() }).drain(await addressOf(identity));
    await vi.waitFor(() => expect(stream.commands).toHaveLength(1), within);
  });

  it('EDGE-FLOW-16 gets commands where the answer to the write of its entry was lost', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    const address = await addressOf(identity);
    const entries = relay.bus.bucket<HeldStream>(edgeBuckets.streams);
    const entry = await entries.get(address.hostUid);
    if (entry === undefined) throw new Error('the stream has no entry');
    await entries.update(address.hostUid, entry.value, entry.revision);
    await createHostCommands({ bus: nats.connect() }).drain(address);
    await vi.waitFor(() => expect(stream.commands).toHaveLength(1));
  });

  it('AMB-095 stays where the word of its predecessor elsewhere comes late', async () => {
    const [one, other] = [await startRelay(), await startRelay()];
    const identity = await enroll(one);
    const late = Promise.withResolvers<void>();
    const request = other.bus.request.bind(other.bus);
    const asked = vi.spyOn(other.bus, 'request').mockImplementation(async (...args) => {
      await late.promise;
      return request(...args);
    });
    const first = connect(one, identity);
    first.hello();
    await becomes(identity, 'Connected');
    connect(other, identity).hello();
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    const third = connect(one, identity);
    third.hello();
    expect(await first.ended).toBe('ABORTED');
    late.resolve();
    expect(await Promise.race([third.ended, systemClock.sleep(500).then(() => 'open')])).toBe('open');
  });
});

describe('the look-up of a host whose stream has begun', () => {
  /** Holds the next look-up up until the answer is called. */
  function holdLookUp(): () => void {
    const find = hosts.find.bind(hosts);
    const held = Promise.withResolvers<void>();
    vi.spyOn(hosts, 'find').mockImplementationOnce(async (...args) => {
      await held.promise;
      return find(...args);
    });
    return held.resolve;
  }
  const opened = async (relay: Relay, identity: EdgeIdentity) => {
    const { hostUid } = await addressOf(identity);
    const release = holdLookUp();
    const stream = connect(relay, identity);
    stream.hello();
    const live = await vi.waitFor(() => relay.streams.get(hostUid) ?? Promise.reject(new Error('no stream')), within);
    return { hostUid, release, stream, live };
  };

  it('EDGE-FLOW-17 holds up no heartbeat, but the results of commands', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const { release, stream, live } = await opened(relay, identity);
    const heard = live.lastHeard;
    stream.heartbeat();
    await vi.waitFor(() => expect(live.lastHeard).toBeGreaterThan(heard), within);
    const outcome = { $case: 'cancelled', value: { reason: '' } } as const;
    const commandId = randomUUID();
    stream.send({ $case: 'commandResult', value: { envelope: undefined, commandId, result: { outcome } } });
    await systemClock.sleep(200);
    expect(stream.commands).toEqual([]);
    expect((await statusOf(identity))?.status).toBe('Disconnected');
    release();
    await vi.waitFor(() => expect(stream.commands[0]?.resultAck?.commandIds).toEqual([commandId]), within);
    await becomes(identity, 'Connected');
  });

  it('writes nothing of a stream that has ended meanwhile', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const before = hosts.writes();
    const { hostUid, release, stream, live } = await opened(relay, identity);
    stream.close();
    await vi.waitFor(() => expect(relay.streams.get(hostUid)).toBeUndefined(), within);
    release();
    await live.confirmed;
    expect(hosts.writes()).toBe(before);
    expect((await statusOf(identity))?.status).toBe('Disconnected');
  });

  it('EDGE-FLOW-21 keeps a stream whose key was rotated meanwhile', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const { release, stream, live } = await opened(relay, identity);
    const next = await rotate(relay.client, identity);
    release();
    await live.confirmed;
    const heard = live.lastHeard;
    stream.send({ $case: 'heartbeat', value: { envelope: undefined, sentAt: undefined } }, { identity: next });
    await vi.waitFor(() => expect(live.lastHeard).toBeGreaterThan(heard), within);
  });
});

describe('the hosts of a relay that is gone', () => {
  it('AMB-096 are not marked while a fleet comes back, and are once it is back', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const host = await hosts.find('acme', identity.enrolled.nodeId);
    if (host?.object.status === undefined) throw new Error('the host has no status');
    await hosts.write(host, { ...host.object.status, status: 'Connected' });
    const before = hosts.writes();
    let arrivals = 0;
    const coming = vi.spyOn(relay.streams, 'arrivals', 'get').mockImplementation(() => (arrivals += 10));
    await using _ = watched(relay);
    // A look takes at least 20 ms: 30 s have passed, and 90 s have not.
    await vi.waitFor(() => expect(arrivals).toBeGreaterThan(400), within);
    expect(hosts.writes()).toBe(before);
    coming.mockReturnValue(arrivals);
    await becomes(identity, 'Disconnected');
  });
});

describe('the hosts of a relay that lives', () => {
  it('AMB-094 stay Connected where one look misses its sign of life, and are Disconnected once it is gone', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const host = await hosts.find('acme', identity.enrolled.nodeId);
    if (host?.object.status === undefined) throw new Error('the host has no status');
    await hosts.write(host, { ...host.object.status, status: 'Connected' });
    const { hostUid: uid } = await addressOf(identity);
    const other = randomUUID();
    const entry = { uid, relay: other, at: new Date().toISOString() };
    await relay.bus.bucket<HeldStream>(edgeBuckets.streams).create(uid, entry, 'acme');
    const looks = vi.spyOn(hosts, 'known');
    await using _ = watched(relay);
    await vi.waitFor(() => expect(looks).toHaveBeenCalled(), within);
    const signs = relay.bus.bucket<LivingRelay>(edgeBuckets.relays);
    const sign = (await signs.create(other, { relay: other }, 'windlass')) ?? 0;
    const before = looks.mock.calls.length;
    await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(before + 2), within);
    expect((await statusOf(identity))?.status).toBe('Connected');
    await signs.delete(other, sign);
    await becomes(identity, 'Disconnected');
  });
});

describe('commands and results', () => {
  const ok = (commandId: string): EdgeEventCase => {
    const duration = { seconds: 1n, nanos: 500_000_000 };
    const outcome = { $case: 'ok', value: { exitCode: 3, payload: undefined, duration } } as const;
    return { $case: 'commandResult', value: { envelope: undefined, commandId, result: { outcome } } };
  };
  const stdout = (commandId: string, text: string): EdgeEventCase => {
    const chunk = { kind: { $case: 'stdout', value: Buffer.from(text) } } as const;
    return { $case: 'commandProgress', value: { envelope: undefined, commandId, chunk } };
  };

  it('EDGE-FLOW-10 EDGE-FLOW-11 EDGE-PROTO-22 EDGE-RES-10 reach the host and come back once, acknowledged; those of others do not count', async () => {
    const relay = await startRelay();
    const [identity, other] = [await enroll(relay), await enroll(relay)];
    const [stream, foreign] = [connect(relay, identity), connect(relay, other)];
    stream.hello();
    foreign.hello();
    await Promise.all([becomes(identity, 'Connected'), becomes(other, 'Connected')]);
    const bus = nats.connect();
    const commands = createHostCommands({ bus });
    const [run, commandId] = [randomUUID(), randomUUID()];
    const record = { run, node_id: identity.enrolled.nodeId, tenant: 'acme', tool: 'cmd.run' };
    expect(await commands.claim({ ...record, commandId, deadline: new Date().toISOString() })).toBe(true);
    const command = { commandId, run, tool: 'cmd.run', args: { a: 1 }, context: 'd', token: 't', deadlineMs: 1_500 };
    await commands.send(await addressOf(identity), command);
    await vi.waitFor(() => expect(stream.commands).toHaveLength(1));
    expect(stream.commands[0]?.command).toMatchObject({
      $case: 'invokeTool',
      value: { commandId, toolName: 'cmd.run', args: { a: 1 }, deadline: { seconds: 1n, nanos: 500_000_000 } },
    });
    foreign.send(ok(commandId));
    await vi.waitFor(() => expect(foreign.commands[0]?.resultAck?.commandIds).toEqual([commandId]));
    stream.send(stdout(commandId, 'hi'));
    stream.send(stdout(commandId, 'x'.repeat(100_000)));
    stream.send(stdout(commandId, 'more'));
    for (let time = 0; time < 2; time += 1) stream.send(ok(commandId));
    stream.send(stdout(commandId, 'late'));
    const acknowledged = () => stream.commands.flatMap(({ resultAck }) => resultAck?.commandIds ?? []);
    await vi.waitFor(() => expect(acknowledged()).toEqual([commandId, commandId]));
    const stop = new AbortController();
    const news: EdgeNews[] = [];
    setTimeoutOnce(() => stop.abort(), 500);
    for await (const { news: one } of createEdgeResults({ bus, clock }).follow('acme', run, stop.signal))
      news.push(one);
    expect(news.map((one) => (one.kind === 'progress' ? one.chunk : one.result))).toEqual([
      { stream: 'stdout', data: Buffer.from('hi').toString('base64') },
      { stream: 'stdout', data: Buffer.from('x'.repeat(65_534)).toString('base64') },
      { cut: true },
      { outcome: 'ok', exit_code: 3, duration_ms: 1_500 },
    ]);
    expect(news.every(({ node_id: node }) => node === identity.enrolled.nodeId)).toBe(true);
    const recent = createRecentCommands({ bus });
    await vi.waitFor(async () => {
      expect(await recent.of('acme', identity.enrolled.nodeId)).toMatchObject([
        { command_id: commandId, tool: 'cmd.run', outcome: 'ok', duration_ms: 1_500 },
      ]);
    });
    expect(await recent.of('acme', other.enrolled.nodeId)).toEqual([]);
  });

  it.each([
    ['the log of results', (name: string) => name.includes('edge_results')],
    ['all of its streams', () => true],
  ])('EDGE-FLOW-11 are stored again where NATS has lost %s and the command is sent again', async (_, isLost) => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    const [run, commandId] = [randomUUID(), randomUUID()];
    const command = { commandId, run, tool: 'cmd.run', args: {}, context: 'd', token: 't', deadlineMs: 60_000 };
    const acknowledged = () => stream.commands.filter(({ resultAck }) => resultAck?.commandIds[0] === commandId).length;
    // Each time by another process, as after a change of leader.
    const runOnce = async (count: number): Promise<void> => {
      const commands = createHostCommands({ bus: await nats.connected() });
      const record = { run, node_id: identity.enrolled.nodeId, tenant: 'acme', tool: 'cmd.run' };
      await commands.claim({ ...record, commandId, deadline: new Date().toISOString() });
      await vi.waitFor(async () => commands.send(await addressOf(identity), command), within);
      stream.send(ok(commandId));
      await vi.waitFor(() => expect(acknowledged()).toBe(count), within);
    };
    await runOnce(1);
    await loseStreams((name) => isLost(name) && !name.endsWith(edgeBuckets.streams.name));
    await runOnce(2);
    const stop = new AbortController();
    const news: EdgeNews[] = [];
    setTimeoutOnce(() => stop.abort(), 500);
    for await (const { news: one } of createEdgeResults({ bus: nats.connect(), clock }).follow(
      'acme',
      run,
      stop.signal,
    ))
      news.push(one);
    expect(news).toMatchObject([{ kind: 'result', command_id: commandId }]);
  });
});

const setTimeoutOnce = (act: () => void, ms: number): void => void systemClock.sleep(ms).then(act);

describe('rotation of keys', () => {
  it('EDGE-FLOW-19 EDGE-FLOW-21 EDGE-FLOW-22 AMB-112 replaces key and token; the open stream keeps working', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    const next = await rotate(relay.client, identity);
    stream.heartbeat();
    stream.send({ $case: 'heartbeat', value: { envelope: undefined, sentAt: undefined } }, { identity: next });
    const isOpen = await Promise.race([stream.ended, systemClock.sleep(200).then(() => 'open')]);
    expect(isOpen).toBe('open');
    expect(await connect(relay, identity).ended).toBe('UNAUTHENTICATED');
    expect(await codeOf(rotate(relay.client, identity))).toBe('UNAUTHENTICATED');
    expect(await codeOf(rotate(relay.client, next, next.keys))).toBe('INVALID_ARGUMENT');
    const fresh = connect(relay, next);
    fresh.hello();
    expect(await stream.ended).toBe('ABORTED');
  });

  it('EDGE-FLOW-26 has one winner of two at a time; the loser may call again', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const both = Promise.withResolvers<void>();
    const read: MemoryHosts['find'] = hosts.find.bind(hosts);
    let readers = 0;
    const find = vi.spyOn(hosts, 'find').mockImplementation(async (...args) => {
      const host = await read(...args);
      readers += 1;
      if (readers === 2) both.resolve();
      await both.promise;
      return host;
    });
    const codes = await Promise.all([rotate(relay.client, identity), rotate(relay.client, identity)].map(codeOf));
    find.mockRestore();
    expect(codes.toSorted()).toEqual(['ABORTED', 'OK']);
  });

  it('EDGE-FLOW-20 EDGE-FLOW-23 refuses a new key that has not signed', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const weak = { privateKey: edgeKeys().privateKey, publicKey: edgeKeys().publicKey };
    expect(await codeOf(rotate(relay.client, identity, weak))).toBe('INVALID_ARGUMENT');
  });

  it('renews the credential of a host whose token has expired', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    aheadMs = 2 * 86_400_000;
    expect(await connect(relay, identity).ended).toBe('UNAUTHENTICATED');
    const before = await statusOf(identity);
    await rotate(relay.client, identity, edgeKeys(), clock.now());
    expect((await statusOf(identity))?.token_jti).not.toBe(before?.token_jti);
    expect((await statusOf(identity))?.keys.previous).toBe(before?.keys.current);
  });
});

describe('the last heartbeats of hosts', () => {
  it('EDGE-RES-07 EDGE-REST-15 are asked of the relays that hold their streams, and cost no write', async () => {
    const [one, two] = [await startRelay(), await startRelay()];
    const [first, second, never] = [await enroll(one), await enroll(two), await enroll(one)];
    const uids = await Promise.all([first, second, never].map(async (each) => (await addressOf(each)).hostUid));
    const [uid = ''] = uids;
    const streams = [connect(one, first), connect(two, second)] as const;
    streams[0].hello();
    streams[1].hello();
    await Promise.all([first, second].map((each) => becomes(each, 'Connected')));
    const heartbeats = createHeartbeats({ bus: nats.connect() });
    expect([...(await heartbeats.last(uids)).keys()].toSorted()).toEqual(uids.slice(0, 2).toSorted());
    const stored = (await statusOf(first))?.last_heartbeat_at ?? '';
    const before = hosts.writes();
    const heardAfter = (time: number) =>
      vi.waitFor(async () => expect(Date.parse((await heartbeats.last(uids)).get(uid) ?? '')).toBeGreaterThan(time), {
        timeout: 5_000,
      });
    await systemClock.sleep(20);
    streams[0].heartbeat();
    await heardAfter(Date.parse(stored));
    expect((await statusOf(first))?.last_heartbeat_at).toBe(stored);
    expect(hosts.writes()).toBe(before);
    // The stream moves to the other relay, where the reader did not know it.
    const heard = Date.parse((await heartbeats.last(uids)).get(uid) ?? '');
    await systemClock.sleep(20);
    connect(two, first).hello();
    await heardAfter(heard);
  });

  it('EDGE-RES-07 are none for hosts without a stream, and where the bus is away', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const { hostUid } = await addressOf(identity);
    expect(await createHeartbeats({ bus: nats.connect() }).last([hostUid, 'unknown'])).toEqual(new Map());
    const away = () => Promise.reject(new AppError('unavailable', 'the bus is away'));
    const bucket = { get: away, create: away, update: away, note: () => undefined, delete: away, roomFor: away };
    const bus = { request: away, bucket: () => bucket };
    expect(await createHeartbeats({ bus }).last([hostUid])).toEqual(new Map());
  });
});

describe('a host that an operator drains', () => {
  it('EDGE-FLOW-13 receives the order at the beginning of each of its streams', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    hosts.drain('acme', identity.enrolled.nodeId);
    for (let turn = 0; turn < 2; turn += 1) {
      const stream = connect(relay, identity);
      stream.hello();
      await vi.waitFor(() => expect(stream.commands.map(({ command }) => command?.$case)).toEqual(['drain']));
      stream.close();
    }
  });

  it('EDGE-FLOW-13 is the only one that receives the order', async () => {
    const relay = await startRelay();
    const identity = await enroll(relay);
    const stream = connect(relay, identity);
    stream.hello();
    await becomes(identity, 'Connected');
    await createHostCommands({ bus: nats.connect() }).cancel(await addressOf(identity), { commandId: 'c', reason: '' });
    await vi.waitFor(() => expect(stream.commands.map(({ command }) => command?.$case)).toEqual(['cancel']));
  });
});
