import { expect, it } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import type { HostRequest } from '../lib/edge/index.ts';
import { bytesOf } from '../lib/memory-budget/index.ts';
import { takeOrder } from './orders.ts';
import type { LiveStream } from './streams/live-stream.ts';

const kibibyte = 1_024;

/** A relay whose hosts read nothing until `read` is called. */
function unreadHosts() {
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
  const stream = { send: () => isRead } as unknown as LiveStream;
  const streams = { get: () => stream, isAt: async () => true, endOne: () => undefined };
  const take = takeOrder({ clock: systemClock, streams, sent: { add: () => undefined } });
  return { take, read };
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
