import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NatsServer, startNatsServer } from '../../test/nats/nats-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { systemClock } from '../clock.ts';
import { parseConfig } from '../config.ts';
import { BusConfig, busOptions } from './bus-config.ts';
import { createEventBus } from './create-event-bus.ts';
import type { EventBus } from './event-bus.ts';

/**
 * An unhandled rejection ends a process, and no trouble with the bus may end one. With any peer at
 * the address of the server, calls fail as ever, and work once a server is there.
 */
let server: NatsServer;
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

const info = (more: object): string =>
  `INFO ${JSON.stringify({ server_id: 'x', version: '2.15.2', proto: 1, headers: true, max_payload: 1_048_576, ...more })}\r\n`;

beforeAll(async () => {
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  server = await startNatsServer();
}, 300_000);

afterAll(async () => {
  await server.stop();
  process.off('unhandledRejection', note);
  process.off('uncaughtException', note);
});

/** The address of a server, as one test sees it. */
interface Gate extends AsyncDisposable {
  readonly port: number;
  /** Ends every connection. */
  cut(): void;
  /** Connections are passed on to the real server from now on. */
  leadToServer(): void;
}

/** `treat`: the fate of a connection; undefined: it is passed on. */
async function openGate(treat?: (socket: Socket) => void): Promise<Gate> {
  const sockets = new Set<Socket>();
  const passOn = (socket: Socket): void => {
    const other = connect(Number(server.url.split(':').at(-1)), '127.0.0.1');
    sockets.add(other);
    other.on('error', () => socket.destroy());
    socket.pipe(other).pipe(socket);
  };
  let meet = treat ?? passOn;
  const gate = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    meet(socket);
  });
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (gate.address() as { port: number }).port,
    cut,
    leadToServer: () => void (meet = passOn),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => gate.close(resolve));
      cut();
      await closed;
    },
  };
}

/** A bus that is closed behind the test. */
function connectBus({ port }: Gate): EventBus & AsyncDisposable {
  const observer = {
    connected: () => undefined,
    called: () => undefined,
    waiting: () => undefined,
    dropped: () => undefined,
    delivered: () => undefined,
    answered: () => undefined,
  };
  const config = parseConfig(BusConfig, {
    WINDLASS_NATS_URL: `nats://127.0.0.1:${port}`,
    WINDLASS_EVENTS_MAX_MB: '64',
    WINDLASS_AUDIT_MAX_MB: '64',
  });
  const deps = { clock: systemClock, logger: silentLogger, observer, random: Math.random };
  const bus = createEventBus(deps, 'test', busOptions(config));
  return Object.assign(bus, { [Symbol.asyncDispose]: () => bus.close(0) });
}

const bucket = { name: 'test_broken', ttlMs: 60_000 };

async function eventually(done: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error('not within 20 s');
    await systemClock.sleep(20);
  }
}

const works = (bus: EventBus): Promise<boolean> =>
  bus
    .bucket(bucket)
    .get('a')
    .then(
      () => true,
      () => false,
    );

const peers: [string, (socket: Socket) => void][] = [
  ['closes every connection', (socket) => socket.end()],
  ['resets every connection', (socket) => socket.resetAndDestroy()],
  ['says nothing', () => undefined],
  ['speaks HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['greets with no JSON', (socket) => socket.write('INFO {"server_id\r\n')],
  ['greets with an empty object', (socket) => socket.write('INFO {}\r\n')],
  ['greets and closes', (socket) => socket.end(info({}))],
  ['greets and answers nothing', (socket) => socket.write(info({}))],
  ['greets, asks for TLS and speaks none', (socket) => socket.write(info({ tls_required: true }))],
  [
    'greets and refuses',
    (socket) => socket.write(`${info({ auth_required: true })}-ERR 'Authorization Violation'\r\n`),
  ],
  ['greets twice, the second time badly', (socket) => socket.write(`${info({})}PONG\r\nINFO {broken\r\n`)],
  [
    'greets and sends bytes of no meaning',
    (socket) => socket.write(Buffer.concat([Buffer.from(info({})), Buffer.alloc(4_096, 7)])),
  ],
  ['answers the first request with no JSON', (socket) => answerWith(socket, 'nonsense')],
  ['answers the first request with null', (socket) => answerWith(socket, 'null')],
  [
    'answers the first request with an error of its own',
    (socket) => answerWith(socket, '{"error":{"code":500,"err_code":1,"description":"x"}}'),
  ],
];

/** Plays along until it is asked for something, which it answers in its own way. */
function answerWith(socket: Socket, text: string): void {
  socket.write(info({}));
  socket.on('data', (chunk) => {
    const said = String(chunk);
    if (said.includes('PING')) socket.write('PONG\r\n');
    const inbox = /H?PUB \S+ (_INBOX\.\S+) /.exec(said)?.[1];
    if (inbox !== undefined) socket.write(`MSG ${inbox} 1 ${text.length}\r\n${text}\r\n`);
  });
}

describe.concurrent('a peer that', () => {
  it.each(peers)(
    '%s makes calls fail within two seconds, and is forgotten once a server is there',
    async (_what, peer) => {
      await using gate = await openGate(peer);
      await using bus = connectBus(gate);
      const start = Date.now();
      await expect(bus.bucket(bucket).get('a')).rejects.toMatchObject({ code: 'unavailable' });
      expect(Date.now() - start).toBeLessThan(2_300);
      await systemClock.sleep(300);
      gate.leadToServer();
      gate.cut();
      await eventually(() => works(bus));
      expect(unhandled).toEqual([]);
    },
  );
});

describe('a connection that breaks', () => {
  it('a hundred times under load leaves nothing behind and fails no call for good', async () => {
    await using gate = await openGate();
    await using bus = connectBus(gate);
    await eventually(() => works(bus));
    const keys = bus.bucket<number>(bucket);
    let isOver = false;
    const outcomes = { ok: 0, unavailable: 0 };
    const load = Array.from({ length: 20 }, async (_, worker) => {
      for (let i = 0; !isOver; i += 1) {
        await keys.create(`load-${worker}-${i}`, i, 'acme').then(
          () => (outcomes.ok += 1),
          () => (outcomes.unavailable += 1),
        );
        await systemClock.sleep(1);
      }
    });
    for (let i = 0; i < 100; i += 1) {
      await systemClock.sleep(20 + (i % 7) * 10);
      gate.cut();
    }
    await eventually(() => works(bus));
    isOver = true;
    await Promise.all(load);
    expect(outcomes.ok).toBeGreaterThan(100);
    expect(unhandled).toEqual([]);
  });
});
