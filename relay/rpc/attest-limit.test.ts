import { describe, expect, it } from 'vitest';
import { createMemoryBucket } from '../../lib/bus/kv/memory-bucket.ts';
import { edgeBuckets, edgeLimits } from '../../lib/edge/index.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createAttestLimit } from './attest-limit.ts';

/** Counts of at most 1,000 addresses. */
function aLimit() {
  const clock = createManualClock();
  const bucket = createMemoryBucket(clock, edgeBuckets.attestations, 1_000);
  return createAttestLimit({ clock, bus: { bucket: () => bucket as never, problem: () => undefined } });
}

/** How many of these addresses may attest once. */
async function taken(take: ReturnType<typeof aLimit>, addresses: readonly string[]): Promise<number> {
  let count = 0;
  for (const address of addresses)
    await take(address).then(
      () => (count += 1),
      () => undefined,
    );
  return count;
}

const many = Array.from({ length: 1_200 }, (_, at) => at);

describe('the limit of attestations', () => {
  it.each([
    ['IPv6', (at: number) => `2001:db8:${at.toString(16)}:1`],
    ['IPv4', (at: number) => `10.7.${at % 256}.${Math.trunc(at / 256)}`],
  ])('leaves room for others where a stranger has a network of %s', async (_family, addressOf) => {
    const take = aLimit();
    expect(await taken(take, many.map(addressOf))).toBeLessThanOrEqual(800);
    const others = ['198.51.100.7', '203.0.113.9', '2400:cb00:1:2', '192.0.2.1'];
    expect(await taken(take, others)).toBe(others.length);
  });

  it('names the address that was seen, which behind a Service may be that of a node', async () => {
    const take = aLimit();
    await taken(
      take,
      Array.from({ length: 5 }, () => '10.0.0.1'),
    );
    await expect(take('10.0.0.1')).rejects.toThrow('five times a minute, and this call came from 10.0.0.1; wait');
  });

  it('tells a network that has its share to wait, and says nothing of tenants or keys', async () => {
    const take = aLimit();
    await taken(
      take,
      many.map((at) => `10.7.${at % 256}.${Math.trunc(at / 256)}`),
    );
    await expect(take('10.7.255.255')).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: 'too many addresses of this network attest; wait',
    });
  });

  it('EDGE-FLOW-27 counts five calls of one address', async () => {
    const take = aLimit();
    const calls = Array.from({ length: edgeLimits.attestationsPerMinute + 1 }, () => '192.0.2.1');
    expect(await taken(take, calls)).toBe(5);
  });
});
