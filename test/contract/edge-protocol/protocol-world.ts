import { generateKeyPairSync, randomInt, randomUUID } from 'node:crypto';
import type { Client } from '@grpc/grpc-js';
import { vi } from 'vitest';
import type { EdgeHostStatus } from '../../../crds/schema/edge-host.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import {
  createEdgeResults,
  createHostCommands,
  type EdgeNews,
  type HostAddress,
  type HostCommands,
  mintEnrollmentToken,
} from '../../../lib/edge/index.ts';
import { startTestBus, type TestBus } from '../../nats/test-bus.ts';
import { createMemoryHosts, type MemoryHosts } from '../../support/memory-hosts.ts';
import { startTestRelay, type TestRelay, type TestRelayOptions } from '../../support/test-relay.ts';
import { enrollByWire, wireClient, type WireHost, WireStream } from '../../support/wire-daemon.ts';

/** A command that was claimed for a host. */
export interface Claimed {
  readonly run: string;
  readonly commandId: string;
}

/** Relays with a real NATS server, and daemons that write each byte by themselves. Hosts are in memory. */
export class ProtocolWorld {
  readonly nats: TestBus;
  readonly hosts: MemoryHosts = createMemoryHosts();
  readonly edgeKey = generateKeyPairSync('ed25519');
  readonly relayKey = generateKeyPairSync('ed25519');
  /** How far the clock of the relays is ahead; how far their steady clock is. */
  aheadMs = 0;
  steadyAheadMs = 0;
  readonly clock = {
    ...systemClock,
    now: () => systemClock.now() + this.aheadMs,
    steadyMs: () => systemClock.steadyMs() + this.steadyAheadMs,
  };
  readonly bus: EventBus;
  readonly commands: HostCommands;
  readonly #relays: TestRelay[] = [];
  readonly #clients: Client[] = [];
  readonly #streams: WireStream[] = [];

  private constructor(nats: TestBus) {
    this.nats = nats;
    this.bus = nats.connect();
    this.commands = createHostCommands({ bus: this.bus });
  }

  static async start(): Promise<ProtocolWorld> {
    return new ProtocolWorld(await startTestBus());
  }

  async relay(options: Partial<TestRelayOptions> = {}): Promise<TestRelay & { readonly client: Client }> {
    const { hosts, relayKey, edgeKey, clock } = this;
    const relay = await startTestRelay({
      bus: this.nats.connect(),
      hosts,
      relayKey,
      edgePublicKey: edgeKey.publicKey,
      clock,
      proxies: ['127.0.0.1'],
      ...options,
    });
    this.#relays.push(relay);
    return { ...relay, client: this.client(relay.listener.port) };
  }

  client(port: number, options: object = {}): Client {
    const client = wireClient(port, options);
    this.#clients.push(client);
    return client;
  }

  token(tenant = 'acme', jti: string = randomUUID()): Promise<string> {
    const facts = { jti, tid: tenant, issuedBy: 'ops', now: Date.now(), ttlSeconds: 900 };
    return mintEnrollmentToken(this.edgeKey.privateKey, facts);
  }

  /** Each host enrolls from an address of its own. */
  async enroll(client: Client, tenant = 'acme'): Promise<WireHost> {
    return enrollByWire(client, await this.token(tenant), anyAddress());
  }

  open(client: Client, host: WireHost): WireStream {
    const stream = new WireStream(client, host);
    this.#streams.push(stream);
    return stream;
  }

  /** A stream whose Hello was taken. */
  async connected(client: Client, host: WireHost, capabilities?: Uint8Array): Promise<WireStream> {
    const stream = this.open(client, host);
    stream.hello(capabilities);
    await this.becomes(host, 'Connected');
    return stream;
  }

  status({ nodeId, answer }: WireHost): Promise<EdgeHostStatus | undefined> {
    return this.statusOf(answer.text(8), nodeId);
  }

  async statusOf(tenant: string, nodeId: string): Promise<EdgeHostStatus | undefined> {
    return (await this.hosts.find(tenant, nodeId))?.object.status;
  }

  async becomes(host: WireHost, state: string): Promise<void> {
    await vi.waitFor(
      async () => {
        const { status } = (await this.status(host)) ?? {};
        if (status !== state) throw new Error(`the host is ${status}, not ${state}`);
      },
      { timeout: 10_000, interval: 10 },
    );
  }

  address({ nodeId, answer }: WireHost): Promise<HostAddress> {
    return this.addressOf(answer.text(8), nodeId);
  }

  async addressOf(tenant: string, nodeId: string): Promise<HostAddress> {
    const uid = (await this.hosts.find(tenant, nodeId))?.object.metadata.uid ?? '';
    return { tenant, hostUid: uid, nodeId };
  }

  /** Claims a command for the host, as a run does before it sends it. */
  async claim(host: WireHost): Promise<Claimed> {
    const [run, commandId] = [randomUUID(), randomUUID()];
    const deadline = new Date(Date.now() + 60_000).toISOString();
    const record = { run, node_id: host.nodeId, tenant: host.answer.text(8), tool: 'cmd.run', deadline };
    if (!(await this.commands.claim({ ...record, commandId }))) throw new Error('claimed before');
    return { run, commandId };
  }

  /** News of a run as soon as there are so many, and after a moment in which more could come. */
  async news({ run }: Pick<Claimed, 'run'>, count: number, tenant = 'acme'): Promise<EdgeNews[]> {
    const stop = new AbortController();
    const seen: EdgeNews[] = [];
    const results = createEdgeResults({ bus: this.bus, clock: systemClock });
    const late = systemClock.sleep(10_000, stop.signal).then(() => stop.abort());
    if (count === 0) void systemClock.sleep(quietMs, stop.signal).then(() => stop.abort());
    for await (const { news: one } of results.follow(tenant, run, stop.signal)) {
      seen.push(one);
      if (seen.length === count) void systemClock.sleep(quietMs, stop.signal).then(() => stop.abort());
    }
    await late;
    return seen;
  }

  /** Ends what a test has opened; NATS stays. */
  async clear(): Promise<void> {
    this.aheadMs = 0;
    this.steadyAheadMs = 0;
    for (const stream of this.#streams.splice(0)) stream.close();
    for (const client of this.#clients.splice(0)) client.close();
    await Promise.all(this.#relays.splice(0).map(({ listener }) => listener.close(AbortSignal.abort())));
  }

  async stop(): Promise<void> {
    await this.clear();
    await this.nats.stop();
  }
}

const quietMs = 200;

export const anyAddress = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
