import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineContract } from '../../lib/http/contract.ts';
import { bodyLimits, endlessLimits } from '../../lib/http/body-limits.ts';
import { defineRoute, type Route } from '../../lib/http/route.ts';
import { requestText, startTestServer, type TestCaller, type TestServer } from '../support/http-server.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

/**
 * The attacker has a token. She asks for large answers, or for logs without an end, over as many connections as she likes,
 * and reads nothing of what comes.
 */
const mib = 1_048_576;
const answerBytes = 4 * mib;
const contract = (name: string, mediaType: string) =>
  defineContract({
    operationId: name,
    method: 'get',
    path: `/${name}`,
    tag: 'Test',
    summary: 'Answer',
    access: 'bearer',
    success: { kind: 'text', description: 'Done.', schema: Type.String(), example: '', mediaType },
    errors: [],
  });

const routes: Route<TestCaller>[] = [
  defineRoute(contract('large', 'text/plain'), async () => ({
    kind: 'text',
    text: 'x'.repeat(answerBytes),
    mediaType: 'text/plain',
  })),
  defineRoute(contract('log', 'text/plain'), async () => ({
    kind: 'stream',
    stream: new Readable({ read: () => undefined }),
    mediaType: 'text/plain',
    isEndless: true,
  })),
];

let server: TestServer;
let clock: ManualClock;
let sockets: Socket[];

beforeEach(async () => {
  clock = createManualClock();
  server = await startTestServer(routes, { clock });
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** The status of an answer of which no more is read than its first bytes. */
async function ask(who: string, path: string, port = server.port): Promise<number> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  socket.write(requestText(`GET ${path}`, [`Authorization: Bearer ${who}`]));
  const first = await new Promise<Buffer>((resolve) => {
    socket.once('data', (chunk) => {
      socket.pause();
      resolve(chunk);
    });
  });
  return Number(first.toString('latin1').split(' ')[1]);
}

async function statuses(count: number, who: string, path: string): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < count; index += 1) found.push(await ask(who, path));
  return found;
}

const countOf = (found: readonly number[], status: number): number => found.filter((one) => one === status).length;

describe('a client that reads nothing of large answers', () => {
  it('has its share of the memory for them and no more, and leaves some to other tenants', async () => {
    const eves = await statuses(30, 'eve', '/large');
    const places = bodyLimits.parsed.bearer / answerBytes;
    expect(countOf(eves, 200)).toBeGreaterThan(places / 2);
    expect(countOf(eves, 200)).toBeLessThan(places);
    expect(countOf(eves, 503)).toBe(30 - countOf(eves, 200));
    expect(await ask('bob', '/large')).toBe(200);
  });

  it('is cut off after half a minute, which gives the memory back', async () => {
    await statuses(30, 'eve', '/large');
    expect(await ask('eve', '/large')).toBe(503);
    await clock.advance(30_000);
    await clock.advance(30_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ask('eve', '/large')).toBe(200);
  });
});

describe('a client that reads a large answer slowly', () => {
  /** More than the system holds for a connection. */
  const longBytes = 48 * mib;
  const long = defineRoute<ReturnType<typeof contract>, TestCaller>(contract('long', 'text/plain'), async () => ({
    kind: 'text',
    text: 'x'.repeat(longBytes),
    mediaType: 'text/plain',
  }));

  /** Reads until so many more bytes have come; false where the connection ended before. */
  async function readMore(socket: Socket, bytes: number): Promise<boolean> {
    let read = 0;
    try {
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
        read += (chunk as Buffer).length;
        if (read >= bytes) return true;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    }
    return false;
  }

  let slow: TestServer;
  let socket: Socket;
  beforeEach(async () => {
    slow = await startTestServer([long, ...routes], { clock });
    socket = connect(slow.port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.write(requestText('GET /long', ['Authorization: Bearer eve']));
  });
  afterEach(() => slow.close());

  it('has all of it where she reads it in four minutes', async () => {
    // A part ends with a chunk, so that the parts together are a little more than their bytes.
    for (let part = 0; part < 6; part += 1) {
      expect([part, await readMore(socket, 7 * mib)]).toEqual([part, true]);
      await clock.advance(30_000);
    }
    expect(await readMore(socket, 5 * mib)).toBe(true);
  });

  it('is cut off in less than four minutes where she reads more slowly, however steadily', async () => {
    // Systems hold some megabytes for a connection, which count as read.
    let looks = 0;
    while (looks < 8 && (await readMore(socket, 4 * mib))) {
      await clock.advance(30_000);
      looks += 1;
    }
    expect(looks).toBeLessThan(8);
  });

  it('takes her share meanwhile, and others have theirs', async () => {
    expect(await readMore(socket, 1)).toBe(true);
    expect(await ask('eve', '/large', slow.port)).toBe(503);
    expect(await ask('bob', '/large', slow.port)).toBe(200);
  });
});

describe('a client that follows logs without an end', () => {
  it('follows four fifths of as many as there may be, and leaves some to other tenants', async () => {
    const eves = await statuses(endlessLimits.log, 'eve', '/log');
    expect(countOf(eves, 200)).toBe(endlessLimits.log * 0.8);
    expect(countOf(eves, 503)).toBe(endlessLimits.log * 0.2);
    expect(await ask('bob', '/log')).toBe(200);
  });

  it('may follow others when it has left some', async () => {
    await statuses(endlessLimits.log, 'eve', '/log');
    for (const socket of sockets.slice(0, 5)) socket.destroy();
    await expect.poll(() => ask('eve', '/log')).toBe(200);
  });
});
