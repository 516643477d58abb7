import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineContract } from '../../lib/http/contract.ts';
import { defineRoute, type EventFrame } from '../../lib/http/route.ts';
import { unreadLimits } from '../../lib/http/unread-events.ts';
import { requestText, startTestServer, type TestCaller, type TestServer } from '../support/http-server.ts';

/** The attacker has a token. She follows a long conversation over many connections, and reads nothing of it. */
const contract = defineContract({
  operationId: 'follow',
  method: 'get',
  path: '/follow',
  tag: 'Test',
  summary: 'Follow',
  access: 'bearer',
  success: { kind: 'events', description: 'Events.', schema: Type.Object({}), example: '' },
  errors: [],
});
const frame = Buffer.from(`data: "${'x'.repeat(65_520)}"\n\n`);
/** More than the systems at both ends hold of a connection. */
const longFrames = 400;

/** Room for four streams that are not read, of one tenant. */
const unreadBytes = 5 * (2 * frame.byteLength + unreadLimits.aheadBytes + 4_096);

let server: TestServer;
let responses: ServerResponse[];
let sockets: Socket[];
let taken: Map<string, number>;
let cutOff: number;

const started = (message: unknown): void => {
  responses.push((message as { readonly response: ServerResponse }).response);
};

async function* events(who: string): AsyncGenerator<EventFrame> {
  for (let index = 1; index <= longFrames; index += 1) {
    taken.set(who, (taken.get(who) ?? 0) + 1);
    yield frame;
  }
}

beforeEach(async () => {
  [responses, sockets, taken, cutOff] = [[], [], new Map(), 0];
  subscribe('http.server.request.start', started);
  const route = defineRoute<typeof contract, TestCaller>(contract, async ({ caller }) => ({
    kind: 'events',
    events: events(caller.name),
  }));
  const metrics = {
    requestDone: () => undefined,
    streamOpened: () => () => undefined,
    streamCutOff: () => void (cutOff += 1),
  };
  server = await startTestServer([route], { events: { unreadBytes }, metrics });
});
afterEach(async () => {
  unsubscribe('http.server.request.start', started);
  for (const socket of sockets) socket.destroy();
  await server.close();
});

function follow(who: string): Socket {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket.pause());
  socket.write(requestText('GET /follow', [`Authorization: Bearer ${who}`]));
  return socket;
}

/** Resolves once nothing more is taken for a tenant: each of its streams waits for its client, or was cut off. */
async function stalled(who: string, count: number): Promise<void> {
  const waiting = () => responses.filter((response) => response.destroyed || response.writableLength > 0).length;
  await expect.poll(waiting, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  expect(taken.get(who)).toBeLessThan(count * longFrames);
}

const heldBytes = (): number =>
  responses.reduce((sum, response) => sum + (response.destroyed ? 0 : response.writableLength), 0);

/** All of a stream that is read. */
async function readAll(socket: Socket): Promise<number> {
  let bytes = 0;
  for await (const chunk of socket.resume()) {
    bytes += (chunk as Buffer).length;
    if (bytes >= longFrames * frame.byteLength) return bytes;
  }
  return bytes;
}

describe('a client that reads nothing of an event stream', () => {
  it('has one piece of it in memory, and no event is taken ahead', async () => {
    follow('eve');
    await stalled('eve', 1);
    expect(heldBytes()).toBeLessThan(frame.byteLength + 1_024);
    expect(cutOff).toBe(0);
  });

  it('has a share of the memory with all its streams, beyond which they are cut off', async () => {
    for (let index = 1; index <= 12; index += 1) {
      follow('eve');
      await stalled('eve', index);
    }
    await expect.poll(() => cutOff, { timeout: 20_000 }).toBe(8);
    await expect.poll(() => responses.filter(({ destroyed }) => destroyed)).toHaveLength(8);
    expect(heldBytes()).toBeLessThan(5 * frame.byteLength);
  });

  it('takes nothing from a client of its tenant that reads, nor from another tenant', async () => {
    for (let index = 1; index <= 6; index += 1) {
      follow('eve');
      await stalled('eve', index);
    }
    const [own, other] = await Promise.all([readAll(follow('eve')), readAll(follow('bob'))]);
    expect(own).toBeGreaterThanOrEqual(longFrames * frame.byteLength);
    expect(other).toBeGreaterThanOrEqual(longFrames * frame.byteLength);
  });
});
