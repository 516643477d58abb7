import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createTenantShares } from './tenant-shares.ts';

/** Messages that a tenant keeps of a log of so many with so many bytes, beside another of one byte, in 1,000 bytes. */
async function kept(messages: number, bytes: number): Promise<number | undefined> {
  const purge = vi.fn<(name: string, options: { keep: number }) => Promise<object>>(async () => ({
    success: true,
    purged: 1,
  }));
  const list = async function* () {
    yield { config: { name: 'large' }, state: { messages, bytes } };
  };
  const shares = createTenantShares(
    { streams: { list, purge } as never, logger: silentLogger },
    { subjects: 'x.>', maxBytes: 1_000 },
  );
  await shares.admit(1);
  await vi.waitFor(() => expect(purge).toHaveBeenCalled());
  return purge.mock.calls[0]?.[1].keep;
}

describe('the share of a tenant of the logs of all', () => {
  it.each([
    [1_600, 10, 5],
    [1_600, 2, 1],
    [1_601, 2, 1],
    [8_000, 1, 1],
  ])('is of a log of %i bytes in %i messages the newest %i', async (bytes, messages, want) => {
    expect(await kept(messages, bytes)).toBe(want);
  });
});
