import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Client } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { edgeBuckets, edgeLimits, type HeldStream } from '../../../lib/edge/index.ts';
import { watchOver } from '../../../relay/watch-over.ts';
import { type Claimed, ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { field, fields, type WireMessage } from '../../support/wire.ts';
import type { WireHost, WireStream } from '../../support/wire-daemon.ts';

let world: ProtocolWorld;

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
afterEach(() => world.clear());

const ok = field(3, field(1, Buffer.alloc(0)));
const result = (stream: WireStream, commandId: string): void =>
  void stream.send('commandResult', fields(field(2, commandId), ok));
const acknowledged = (stream: WireStream): string[] =>
  stream.commands.flatMap((command) => command.message(11).texts(1));
const order = ({ commandId, run }: Claimed) => ({
  commandId,
  run,
  tool: 'cmd.run',
  args: {},
  context: 'd',
  token: 't',
  deadlineMs: 60_000,
});

/** A daemon of 10 commands at a time: it runs each id once, and reports until it is acknowledged. */
class Daemon {
  readonly ran: string[] = [];
  readonly #unacknowledged = new Set<string>();
  readonly host: WireHost;
  stream: WireStream;
  #taken = 0;

  constructor(host: WireHost, stream: WireStream) {
    this.host = host;
    this.stream = stream;
  }

  /** Takes what has come since; `answers` says for which commands it reports already. */
  take(answers: (at: number) => boolean): void {
    for (const message of this.stream.commands.slice(this.#taken)) {
      for (const id of message.message(11).texts(1)) this.#unacknowledged.delete(id);
      this.#run(message, answers);
    }
    this.#taken = this.stream.commands.length;
  }

  #run(message: WireMessage, answers: (at: number) => boolean): void {
    const id = message.message(1).text(1);
    if (id === '' || this.ran.includes(id)) return;
    this.ran.push(id);
    this.#unacknowledged.add(id);
    if (answers(this.ran.length)) result(this.stream, id);
  }

  move(stream: WireStream): void {
    this.stream = stream;
    this.#taken = 0;
    for (const id of this.#unacknowledged) result(stream, id);
  }

  get isDone(): boolean {
    return this.#unacknowledged.size === 0;
  }
}

describe('a relay that is killed', () => {
  it('EDGE-FLOW-11 with 500 commands in flight: each runs once, and ends once', async () => {
    const first = await world.relay();
    const daemons = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const host = await world.enroll(first.client);
        return new Daemon(host, await world.connected(first.client, host));
      }),
    );
    const claimed = await Promise.all(
      daemons.flatMap((daemon) =>
        Array.from({ length: 10 }, async () => ({ daemon, of: await world.claim(daemon.host) })),
      ),
    );
    await Promise.all(
      claimed.map(async ({ daemon, of }) => world.commands.send(await world.address(daemon.host), order(of))),
    );
    await vi.waitFor(
      () => {
        // Every other command is reported; the answer of the relay to the last of them may be lost.
        for (const daemon of daemons) daemon.take((at) => at % 2 === 0);
        expect(daemons.every(({ ran }) => ran.length === 10)).toBe(true);
      },
      { timeout: 20_000 },
    );
    await first.listener.close(AbortSignal.abort());
    await first.bus.close(0);
    const second = await world.relay();
    await Promise.all(daemons.map((daemon) => daemon.stream.ended));
    for (const daemon of daemons) daemon.move(await world.connected(second.client, daemon.host));
    // A caller that did not learn whether a command was sent sends it again.
    await vi.waitFor(
      () =>
        Promise.all(
          claimed.map(async ({ daemon, of }) => world.commands.send(await world.address(daemon.host), order(of))),
        ),
      { timeout: 20_000 },
    );
    await vi.waitFor(
      () => {
        for (const daemon of daemons) daemon.take(() => true);
        expect(daemons.every(({ isDone }) => isDone)).toBe(true);
      },
      { timeout: 20_000 },
    );
    expect(daemons.every(({ ran }) => ran.length === 10 && new Set(ran).size === 10)).toBe(true);
    const news = await Promise.all(claimed.map(({ of }) => world.news(of, 1)));
    expect(news.every((one) => one.length === 1 && one[0]?.kind === 'result')).toBe(true);
  }, 90_000);
});

describe('two relays, and a partition between one of them and NATS', () => {
  /** Carries bytes to NATS until it is cut. */
  class Wire {
    readonly #server: Server;
    readonly #open = new Set<Socket>();
    isCut = false;

    constructor(target: URL) {
      this.#server = createServer((socket) => {
        const upstream = connect(Number(target.port), target.hostname);
        for (const end of [socket, upstream]) {
          this.#open.add(end);
          end.on('error', () => undefined);
          end.on('close', () => {
            this.#open.delete(end);
            socket.destroy();
            upstream.destroy();
          });
        }
        if (this.isCut) socket.destroy();
        else socket.pipe(upstream).pipe(socket);
      });
    }

    async listen(): Promise<string> {
      await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
      const address = this.#server.address();
      if (address === null || typeof address === 'string') throw new Error('no port');
      return `nats://127.0.0.1:${address.port}`;
    }

    cut(): void {
      this.isCut = true;
      for (const socket of this.#open) socket.destroy();
    }

    close(): void {
      this.cut();
      this.#server.close();
    }
  }

  let wire: Wire;
  let far: TestRelay & { readonly client: Client };
  let near: TestRelay & { readonly client: Client };
  let host: WireHost;
  let stale: WireStream;

  async function parted(): Promise<void> {
    wire = new Wire(new URL(world.nats.server.url));
    const bus = world.nats.connect({ WINDLASS_NATS_URL: await wire.listen() });
    far = await world.relay({ bus });
    near = await world.relay();
    host = await world.enroll(near.client);
    stale = await world.connected(far.client, host);
    const { hostUid } = await world.address(host);
    await vi.waitFor(() => expect(far.streams.get(hostUid)?.epoch).toBeGreaterThan(0));
    wire.cut();
    await vi.waitFor(() => expect(bus.problem()).toBeDefined(), { timeout: 20_000 });
  }
  afterEach(() => wire.close());

  const tellsOpen = (stream: WireStream): Promise<string> =>
    Promise.race([stream.ended, systemClock.sleep(500).then(() => 'open')]);

  it('no command reaches the host by the parted relay, and none is reported as sent', async () => {
    await parted();
    const of = await world.claim(host);
    const sent = world.commands.send(await world.address(host), order(of)).then(
      () => 'sent',
      (error: { readonly code: string }) => error.code,
    );
    expect(['unavailable', 'timeout']).toContain(await sent);
    expect(stale.commands).toEqual([]);
  }, 60_000);

  it('EDGE-FLOW-11 AMB-095 the host moves to the other relay; what both streams report counts once', async () => {
    await parted();
    const of = await world.claim(host);
    const fresh = await world.connected(near.client, host);
    await vi.waitFor(async () => world.commands.send(await world.address(host), order(of)), { timeout: 20_000 });
    await vi.waitFor(() => expect(fresh.commands.length).toBeGreaterThan(0));
    // The daemon's older half does not know yet that it was replaced.
    expect(await tellsOpen(stale)).toBe('open');
    result(stale, of.commandId);
    result(fresh, of.commandId);
    await vi.waitFor(() => expect(acknowledged(fresh)).toEqual([of.commandId]), { timeout: 10_000 });
    expect(acknowledged(stale)).toEqual([]);
    expect(await world.news(of, 1)).toHaveLength(1);
    // Once NATS is back, the relay that was parted finds the host elsewhere.
    wire.isCut = false;
    await vi.waitFor(() => expect(far.bus.problem()).toBeUndefined(), { timeout: 30_000 });
    world.aheadMs = edgeBuckets.streams.ttlMs;
    await far.streams.renewEntries().catch(() => undefined);
    world.aheadMs = 0;
    expect(['ABORTED', 'UNAVAILABLE']).toContain(await stale.ended);
    const entry = await world.bus.bucket<HeldStream>(edgeBuckets.streams).get((await world.address(host)).hostUid);
    expect(entry?.value.relay).toBe(near.relayId);
    expect(await tellsOpen(fresh)).toBe('open');
    expect(await world.news(of, 1)).toHaveLength(1);
  }, 90_000);

  it('the parted relay ends its streams after 10 s', async () => {
    await parted();
    const over = new AbortController();
    const { bus, streams, relayId } = far;
    const { staleMs } = edgeLimits;
    const deps = {
      clock: world.clock,
      logger: silentLogger,
      bus,
      hosts: world.hosts,
      streams,
      relayId,
      staleMs,
    };
    const watching = watchOver(deps, over.signal);
    expect(await tellsOpen(stale)).toBe('open');
    world.steadyAheadMs = 10_000;
    expect(await stale.ended).toBe('UNAVAILABLE');
    over.abort();
    await watching;
  }, 60_000);
});
