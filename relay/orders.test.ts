import { expect, it } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { type HostRequest, isEdgeUnavailable } from '../lib/edge/index.ts';
import { GrpcError } from '../lib/grpc/grpc-error.ts';
import { bytesOf } from '../lib/memory-budget/index.ts';
import { takeOrder } from './orders.ts';
import type { LiveStream } from './streams/live-stream.ts';

const kibibyte = 1_024;

/** A relay whose hosts read nothing until `read` is called. */
function unreadHosts() {
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
  return { take: orderTaker(() => isRead), read };
}

function orderTaker(send: () => Promise<void>) {
  const stream = { send } as unknown as LiveStream;
  const streams = { get: () => stream, isAt: async () => true, endOne: () => undefined };
  return takeOrder({ clock: systemClock, streams, sent: { add: () => undefined } });
}

function orderOf(tenant: string, bytes: number): { readonly body: Buffer } {
  const host = { tenant, hostUid: 'h', nodeId: 'n' };
  const order: HostRequest = { kind: 'push_config', host, epoch: 1, delta: '', version: '1' };
  const empty = JSON.stringify(order).length;
  return { body: Buffer.from(JSON.stringify({ ...order, delta: 'x'.repeat(bytes - empty) })) };
}

it('orders that hosts of a tenant do not read are bounded in bytes, and keep none of another tenant from its host', async () => {
  const { take, read } = unreadHosts();
  const size = 256 * kibibyte;
  const taken: Promise<unknown>[] = [];
  let refused: unknown;
  for (let sent = 0; refused === undefined && sent < 1_000; sent += 1) {
    const order = take(orderOf('acme', size));
    const outcome = await Promise.race([
      order.catch((error: unknown) => error),
      systemClock.sleep(1).then(() => 'waits'),
    ]);
    if (outcome === 'waits') taken.push(order);
    else refused = outcome;
  }
  expect(refused).toMatchObject({ code: 'unavailable', reason: 'Overloaded' });
  expect(taken).toHaveLength(Math.floor((bytesOf('orders to hosts') * 4) / 5 / size));
  const other = take(orderOf('umbra', size));
  expect(await Promise.race([other.catch(() => 'refused'), systemClock.sleep(20).then(() => 'waits')])).toBe('waits');
  read();
  await Promise.all([...taken, other]);
  expect(await take(orderOf('acme', size))).toBe('');
});

it.each(['cancelled', 'limit_exceeded'] as const)(
  'an order whose stream ends by %s while it is written leaves open whether the host has it',
  async (code) => {
    const take = orderTaker(() => Promise.reject(new GrpcError(code, 'the stream is over')));
    const error: unknown = await take(orderOf('acme', kibibyte)).catch((problem: unknown) => problem);
    // The sender sends it again: `HostCommands.send`.
    expect(error).toMatchObject({ code: 'timeout', reason: 'StreamEnded' });
    expect(isEdgeUnavailable(error)).toBe(false);
  },
);
