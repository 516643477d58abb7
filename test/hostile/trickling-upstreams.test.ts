import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { collectGarbage } from '../../lib/process/collect-garbage.ts';
import { type AnswerRoom, createAnswerRoom, memoryOf } from '../../lib/tools/web/answer-room.ts';
import { bodyBytes } from '../../lib/tools/web/read-response.ts';
import { createUpstream, type Upstream } from '../../lib/upstream/index.ts';

/**
 * The attacker has many upstreams, which begin an answer and never end it. The bytes that came are memory of the gateway for the
 * whole time of the step, in whatever pieces they come.
 */
const kibibyte = 1_024;
const held = new Set<ServerResponse>();
const servers: Server[] = [];
const origins: string[] = [];
/** Connections to one origin are bounded, and the attacker has many origins. */
const originsMost = 5;
let upstream: Upstream;

const begun = Buffer.alloc(1_000_000, ' ');
/** All of it can be unpacked, and the end is missing. */
const packed = gzipSync(begun, { finishFlush: constants.Z_SYNC_FLUSH });
const acts: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/begun': (response) => {
    held.add(response);
    response.write(begun);
  },
  '/packed': (response) => {
    held.add(response);
    response.writeHead(200, { 'content-encoding': 'gzip' }).write(packed);
  },
  '/pieces': (response) => void inPieces(response),
  '/honest': (response) => void response.end(begun),
};
const pieces = 10_000;

async function inPieces(response: ServerResponse): Promise<void> {
  response.socket?.setNoDelay(true);
  for (let count = 0; count < pieces; count += 1) {
    response.write(' ');
    await setImmediate();
  }
  held.add(response);
}

beforeAll(async () => {
  upstream = createUpstream({ clock: systemClock, resolve: async () => [] });
  for (let index = 0; index < originsMost; index += 1) {
    const server = createServer((request, response) => {
      request.resume().on('end', () => acts[request.url ?? '']?.(response));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    origins.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
});
afterAll(async () => {
  await upstream.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const poolBytes = bytesOf('answers of upstreams', 576 * kibibyte * kibibyte);

interface Asked {
  readonly room: AnswerRoom;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly tenant?: string;
  readonly origin?: number;
}

/** As a step sends it; resolves to the number of bytes, or to the word of the failure. */
async function ask({ room, path, signal, tenant = 'acme', origin = 0 }: Asked): Promise<number | string> {
  using taken = room.of({ tenant, cost: memoryOf(bodyBytes), signal });
  try {
    const { body } = await upstream.send({
      tenant,
      method: 'POST',
      server: origins[origin % originsMost] ?? '',
      path,
      headers: {},
      body: '{}',
      allowedNetworks: ['127.0.0.0/8'],
      responseBytes: bodyBytes,
      grow: taken.grow,
      signal,
    });
    return body.length;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Bytes in the heap and beside it. */
function memory(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** When no more of what was sent arrives. */
async function settled(): Promise<number> {
  for (let last = memory(); ; ) {
    await systemClock.sleep(500);
    const now = memory();
    if (Math.abs(now - last) < 1_000_000) return now;
    last = now;
  }
}

it.each(['/begun', '/packed'])(
  'GW-WF-31 80 answers of one tenant that have begun take no more than a room has, and another tenant is served: %s',
  async (path) => {
    const room = createAnswerRoom({ clock: systemClock, size: poolBytes });
    const over = new AbortController();
    const before = memory();
    const hostile = Array.from({ length: 80 }, (_, origin) => ask({ room, path, origin, signal: over.signal }));
    await expect.poll(() => held.size, { timeout: 50_000 }).toBe(80);
    const grown = (await settled()) - before;
    // A body that waits for room has up to 32 KiB, and Node some pieces of 64 KiB of its connection. All of it is 80 MB.
    expect(grown).toBeLessThan(poolBytes / 8 + 80 * 350 * kibibyte);
    expect(await ask({ room, path: '/honest', tenant: 'globex', signal: AbortSignal.timeout(20_000) })).toBe(1_000_000);
    over.abort();
    await Promise.all(hostile);
    held.clear();
    expect(await ask({ room, path: '/honest', signal: AbortSignal.timeout(20_000) })).toBe(1_000_000);
  },
);

it('GW-WF-31 an answer in pieces of one byte takes as much memory as one in a single piece', async () => {
  const room = createAnswerRoom({ clock: systemClock, size: poolBytes });
  const over = new AbortController();
  expect(await ask({ room, path: '/honest', signal: AbortSignal.timeout(20_000) })).toBe(1_000_000);
  const before = memory();
  const asked = ask({ room, path: '/pieces', signal: over.signal });
  await expect.poll(() => held.size, { timeout: 50_000 }).toBe(1);
  const grown = (await settled()) - before;
  expect(grown).toBeLessThan(kibibyte * kibibyte);
  over.abort();
  await asked;
  held.clear();
});
