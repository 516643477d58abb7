import { connect, type Socket } from 'node:net';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  readAnswer,
  requestText,
  startTestServer,
  type TestCaller,
  type TestServer,
} from '../../test/support/http-server.ts';
import { createManualClock, type ManualClock } from '../../test/support/manual-clock.ts';
import { bodyLimits } from './body-limits.ts';
import { type Access, type Contract, defineContract } from './contract.ts';
import { pace } from './raw-part.ts';
import { defineRoute, json, type RequestHead, type Route } from './route.ts';

const mib = 1_048_576;

const contractOf = (access: Access, more: Partial<Contract> = {}) =>
  defineContract({
    tag: 'Test',
    summary: 'Test',
    operationId: access,
    method: 'post',
    path: `/${access}`,
    access,
    body: { kind: 'bytes', maxBytes: 10 * mib },
    success: { kind: 'json', description: 'Done.', schema: Type.Object({}), example: {} },
    errors: [],
    ...more,
  });

const tokenIn = ({ rawHeaders }: Pick<RequestHead, 'rawHeaders'>): string | undefined =>
  /^Bearer of-(\w+)$/.exec(rawHeaders.find(([name]) => name === 'authorization')?.[1] ?? '')?.[1];

const take = (contract: Contract): Route<TestCaller> =>
  defineRoute<Contract, TestCaller>(contract, (async () => json({})) as never);

const routes: readonly Route<TestCaller>[] = [
  { ...take(contractOf('pod')), tenantOf: async (head) => tokenIn(head) },
  take(contractOf('signature')),
  take(contractOf('bearer')),
  take(
    contractOf('signature', {
      operationId: 'hook',
      path: '/hooks/{source}',
      params: Type.Object({ source: Type.String() }),
      senderParam: 'source',
    }),
  ),
];

let clock: ManualClock;
let server: TestServer;
let sockets: Socket[];
beforeEach(async () => {
  clock = createManualClock();
  sockets = [];
  server = await startTestServer(routes, { clock });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

interface Sender {
  readonly path: string;
  readonly headers?: readonly string[];
  /** An address of loopback. */
  readonly address?: string;
}

function begin({ path, headers = [], address = '127.0.0.1' }: Sender, length: number): Socket {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress: address }).on('error', () => undefined);
  sockets.push(socket);
  socket.write(requestText(`POST ${path}`, [...headers, `Content-Length: ${length}`]));
  return socket;
}

/** The status of a request whose body comes as a whole. */
async function statusOf(sender: Sender, length: number): Promise<number> {
  const socket = begin(sender, length);
  socket.write(Buffer.alloc(length));
  return (await readAnswer(socket)).status;
}

/** Sends all of a body but its last byte, which never comes. */
async function stall(sender: Sender, length: number): Promise<Socket> {
  const socket = begin(sender, length);
  await new Promise((resolve) => socket.write(Buffer.alloc(length - 1), resolve));
  return socket;
}

/** Answers that came to those that stalled. */
const answered = (all: readonly Socket[]): number => all.filter(({ bytesRead }) => bytesRead > 0).length;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

const soon = { timeout: 20_000 };

/** Stalls with all that one owner may have, and waits until the server has got it. */
async function fillHalf(sender: Sender, bytes: number): Promise<Socket[]> {
  const length = Math.floor(bytes / 8);
  const stalled = await Promise.all(times(4, () => stall(sender, length)));
  await expect.poll(() => statusOf(sender, small + 1), soon).toBe(503);
  return stalled;
}

const ofBob: Sender = { path: '/pod', headers: ['Authorization: Bearer of-bob'] };
const small = bodyLimits.smallRawBytes;

describe('bodies that are begun and never end', () => {
  it('of small size take nothing from large ones, and nothing from a proven pod', async () => {
    await Promise.all(times(280, () => stall({ path: '/pod' }, small)));
    expect(await statusOf(ofBob, 200_000)).toBe(200);
    expect(await statusOf({ path: '/pod' }, 200_000)).toBe(200);
    expect(await statusOf(ofBob, 8 * mib)).toBe(200);
  });

  it('of all pods that have proven nothing leave their half to those that have', async () => {
    const length = 2 * mib;
    const many = Math.ceil(bodyLimits.raw.pod / length);
    await Promise.all(times(many, (at) => stall({ path: '/pod', address: `127.0.0.${2 + at}` }, length)));
    await expect.poll(() => answered(sockets), soon).toBeGreaterThan(0);
    expect(await statusOf(ofBob, 200_000)).toBe(200);
    expect(await statusOf(ofBob, 8 * mib)).toBe(200);
  });

  it.each([1, 2, 3, 10])('from %i other addresses keep no other address from its signed calls', async (count) => {
    const length = 2 * mib;
    const many = Math.ceil((2 * bodyLimits.raw.signature) / length / count);
    const all = times(count, (at) =>
      times(many, () => stall({ path: '/signature', address: `127.0.0.${2 + at}` }, length)),
    );
    await Promise.all(all.flat());
    expect(await statusOf({ path: '/signature' }, 200_000)).toBe(200);
  });

  it('at many sources of webhooks keep no other source from its own, the largest included', async () => {
    const length = 10 * mib;
    await Promise.all(times(6, (at) => stall({ path: `/hooks/s-${at}` }, length)));
    expect(await statusOf({ path: '/hooks/victim' }, length)).toBe(200);
    expect(await statusOf({ path: '/signature' }, 2 * mib)).toBe(200);
  });

  it.each([
    ['/pod', bodyLimits.raw.pod],
    ['/signature', bodyLimits.raw.signature],
    ['/hooks/victim', bodyLimits.raw.public],
  ])('give way to one of their own owner at %s that keeps its pace', async (path, bytes) => {
    const stalled = await fillHalf({ path }, bytes);
    expect(answered(stalled)).toBe(0);
    await clock.advance(pace.aheadMs + 1);
    expect(await statusOf({ path }, mib)).toBe(200);
    await expect.poll(() => answered(stalled), soon).toBe(1);
    const broken = stalled.find(({ bytesRead }) => bytesRead > 0) as Socket;
    expect(await readAnswer(broken)).toMatchObject({ status: 503 });
  });

  it('and are small have a bound of their own, behind which the slowest give way', async () => {
    const many = Math.ceil(bodyLimits.smallRaw / small);
    const stalled = await Promise.all(
      times(many + 20, (at) => stall({ path: '/pod', address: `127.0.1.${at % 200}` }, small)),
    );
    await expect.poll(() => answered(stalled), soon).toBeGreaterThanOrEqual(19);
    const before = answered(stalled);
    await clock.advance(pace.aheadMs + 1);
    for (const sender of [ofBob, { path: '/signature' }, { path: '/bearer', headers: ['Authorization: Bearer ada'] }])
      expect(await statusOf(sender, small)).toBe(200);
    expect(answered(stalled)).toBeGreaterThan(before);
  });
});

it('a body that keeps its pace is never broken off for one of its own owner', async () => {
  const ada: Sender = { path: '/bearer', headers: ['Authorization: Bearer ada'] };
  const stalled = await fillHalf(ada, bodyLimits.raw.bearer);
  await clock.advance(pace.aheadMs);
  expect(await statusOf(ada, small + 1)).toBe(503);
  for (const socket of stalled) {
    socket.write('x');
    expect(await readAnswer(socket)).toMatchObject({ status: 200 });
  }
});
