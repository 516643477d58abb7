import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { UnreadEvents, unreadLimits } from './unread-events.ts';

const unreadBytes = 100_000;
const cost = 2 * unreadBytes + unreadLimits.aheadBytes;

let unread: UnreadEvents;
let cutOff: string[];
beforeEach(() => {
  // Four of one tenant, and one more.
  unread = new UnreadEvents(createManualClock(), 5 * cost);
  cutOff = [];
});

/** A stream that waits for its client. */
async function leave(tenant: string, name: string, bytes = unreadBytes) {
  const { promise: read, resolve } = Promise.withResolvers<void>();
  const stream = {
    tenant,
    unreadBytes: bytes,
    cutOff() {
      cutOff.push(name);
      stream.unreadBytes = 0;
      resolve();
    },
  };
  const waited = unread.wait(stream, read);
  await setImmediate();
  return {
    waited,
    readAll() {
      stream.unreadBytes = 0;
      resolve();
      return waited;
    },
  };
}

describe('streams that are not read', () => {
  it('beyond the share of a tenant take the places of those that have waited longest', async () => {
    for (const name of ['1', '2', '3', '4', '5', '6']) await leave('eve', name);
    expect(cutOff).toEqual(['1', '2']);
  });

  it('take no place of another tenant, which has one as well', async () => {
    for (const name of ['1', '2', '3', '4']) await leave('eve', name);
    await leave('bob', 'of bob');
    await leave('eve', '5');
    expect(cutOff).not.toContain('of bob');
    await leave('bob', 'another of bob');
    expect(cutOff.filter((name) => name.length > 1)).toEqual(['of bob']);
  });

  it('give their places back once they are read', async () => {
    const first = await leave('eve', '1');
    for (const name of ['2', '3', '4']) await leave('eve', name);
    await first.readAll();
    await leave('eve', '5');
    expect(cutOff).toEqual([]);
  });

  it('wait behind others anew where they have read in between', async () => {
    await (await leave('eve', '1')).readAll();
    for (const name of ['2', '1', '3', '4', '5']) await leave('eve', name);
    expect(cutOff).toEqual(['2']);
  });

  it('are cut off where one leaves more unread than there is room for, with none to take a place of', async () => {
    for (const name of ['of bob', 'another of bob']) await leave('bob', name);
    const large = await leave('eve', 'large', 5 * cost);
    await large.waited;
    expect(cutOff).toEqual(['large']);
  });

  it('of which the system takes all at once need no place, however many there are', async () => {
    const streams = Array.from({ length: 50 }, (_, index) => ({
      tenant: 'eve',
      unreadBytes,
      cutOff: () => void cutOff.push(String(index)),
    }));
    const waited = streams.map((stream) => unread.wait(stream, Promise.resolve()));
    for (const stream of streams) stream.unreadBytes = 0;
    await Promise.all(waited);
    expect(cutOff).toEqual([]);
    for (const name of ['1', '2', '3', '4']) await leave('eve', name);
    expect(cutOff).toEqual([]);
  });
});
