import { describe, expect, it, vi } from 'vitest';
import { entryTurnBytes, readRecords, recordsIn } from './read-entries.ts';

/** Turns of the event loop that have begun. */
function countTurns() {
  const turns = { count: 0 };
  const next = (): void => {
    turns.count += 1;
    handle = setImmediate(next);
  };
  let handle = setImmediate(next);
  return { turns, stop: () => clearImmediate(handle) };
}

const text = (length: number): string => JSON.stringify('x'.repeat(length - 2));

/** Bytes of entries of these sizes that each turn of the event loop reads. */
async function bytesOfTurns(sizes: readonly number[]): Promise<number[]> {
  const list = sizes.map((size, index) => ({ sequence: index, body: Buffer.from(text(size)) }));
  const { turns, stop } = countTurns();
  const bytes = new Map<number, number>();
  for await (const { sequence } of recordsIn(list))
    bytes.set(turns.count, (bytes.get(turns.count) ?? 0) + (sizes[sequence] ?? 0));
  stop();
  return [...bytes.values()];
}

describe('reading entries of a conversation', () => {
  it.each([
    [-1, 1],
    [0, 1],
    [1, 2],
  ])('reads so many bytes in a turn of the event loop: %i more', async (more, want) => {
    const half = entryTurnBytes / 2;
    expect(await bytesOfTurns([half, half + more])).toHaveLength(want);
  });

  it('reads a page of 4 MiB in turns, and a larger entry in one of its own', async () => {
    const page = [...Array.from({ length: 240 }, () => 16_384), 10 * entryTurnBytes, 10, 10];
    const turns = await bytesOfTurns(page);
    expect(turns.reduce((sum, bytes) => sum + bytes)).toBe(page.reduce((sum, bytes) => sum + bytes));
    expect(turns.toSorted((a, b) => b - a)[0]).toBe(10 * entryTurnBytes);
    expect(turns.toSorted((a, b) => b - a)[1]).toBe(entryTurnBytes);
  });

  it('has room for what the records take before it makes one of them', async () => {
    const body = Buffer.from(`{"a":[${'{},'.repeat(999)}{}]}`);
    const parse = vi.spyOn(JSON, 'parse');
    const reserve = vi.fn<(bytes: number) => Promise<void>>(async () => expect(parse).not.toHaveBeenCalled());
    expect(await readRecords([{ sequence: 1, body }], reserve)).toHaveLength(1);
    parse.mockRestore();
    expect(reserve).toHaveBeenCalledOnce();
    // A thousand objects of 64 bytes each.
    expect(reserve.mock.calls[0]?.[0]).toBeGreaterThan(64_000);
    await expect(
      readRecords([{ sequence: 1, body }], async () => Promise.reject(new Error('no room'))),
    ).rejects.toThrow('no room');
  });
});
