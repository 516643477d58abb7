import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { createBlob } from '../../lib/output-store/blob.ts';
import { valueOf } from '../../lib/output-store/blob-value.ts';
import { createConfigMapStore } from '../../lib/output-store/config-map-store.ts';
import { boundOf, packAll, packedBytesMax, unpack } from '../../lib/output-store/packed.ts';

const lost = expect.objectContaining({ code: 'not_found', reason: 'OutputLost' });
const ref = 'a'.repeat(64);
const max = limits.storedBlobBytes;

/**
 * The attacker may write ConfigMaps in a namespace of their own, and with them replace a stored
 * output. No other tenant may pay for that.
 */
describe('WF-CR-19 an attacker replaces a stored output', () => {
  it('by one that unpacks to 64 MiB: no more than its size in the status is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const before = process.memoryUsage().arrayBuffers;
    await expect(unpack(bomb, { ref, bytes: 1_000 })).rejects.toEqual(lost);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });

  it.each([999, 1_000, 1_001])('by other bytes: %i instead of 1,000', async (size) => {
    await expect(unpack(gzipSync(Buffer.alloc(size)), { ref, bytes: 1_000 })).rejects.toEqual(lost);
  });

  it('by what is no gzip', async () => {
    await expect(unpack(Buffer.from('no gzip'), { ref, bytes: 7 })).rejects.toEqual(lost);
  });

  it.each([
    [1_000, 1],
    [2 * 960 * 1024, 3],
  ])('B4 by full chunks without an end: of %i bytes no more than %i are read', async (bytes, most) => {
    const full = { metadata: {}, binaryData: { gzip: Buffer.alloc(960 * 1024).toString('base64') } };
    let reads = 0;
    const get = async () => {
      reads += 1;
      if (reads > 10) throw new Error('it is read without an end');
      return full;
    };
    const store = createConfigMapStore({ get } as never);
    await expect(store.get('team', { executionUid: 'e', ref, encoding: 'text', bytes })).rejects.toEqual(lost);
    expect(reads).toBe(most);
  });

  it('and the honest one is read to its last byte, also an empty one', async () => {
    for (const data of [Buffer.alloc(1_000, 'x'), Buffer.alloc(0)]) {
      const blob = createBlob(data);
      const read = await unpack(gzipSync(data), { ref: blob.ref, bytes: data.byteLength });
      expect(Buffer.from(read).equals(data)).toBe(true);
    }
  });
});

describe('a status that names a size', () => {
  it.each([max - 1, max])('of %i bytes bounds the reading', (bytes) => expect(boundOf({ ref, bytes })).toBe(bytes));

  it.each([max + 1, Number.MAX_SAFE_INTEGER])('of %i bytes is lost', (bytes) =>
    expect(() => boundOf({ ref, bytes })).toThrow(lost),
  );

  it('is never written for a value that no reader takes', async () => {
    expect(await packAll([{ ref, data: Buffer.alloc(max) }])).toHaveLength(1);
    const refused = packAll([{ ref, data: Buffer.alloc(max + 1) }]);
    await expect(refused).rejects.toMatchObject({ reason: 'OutputBudgetExceeded' });
  });

  it.each([0, 1, 100, 16_383, 16_384, 1_000_003])('leaves room for the packed form of %i random bytes', (bytes) => {
    const data = Buffer.from(Array.from({ length: bytes }, (_, index) => (index * 2_654_435_761) >>> 13));
    expect(gzipSync(data, { level: 1 }).byteLength).toBeLessThanOrEqual(packedBytesMax(bytes));
  });
});

describe('a stored JSON value', () => {
  const parts = limits.storedJsonParts;
  const listOf = (items: number): Buffer => Buffer.from(`[${'0,'.repeat(items - 1)}0]`);

  it.each([parts - 1, parts])('of %i parts is read', (items) =>
    expect(valueOf(listOf(items), { ref, encoding: 'json' })).toHaveLength(items),
  );

  it('of one part more would fill a process and is lost', () =>
    expect(() => valueOf(listOf(parts + 1), { ref, encoding: 'json' })).toThrow(lost));

  it('may hold any text: characters inside strings make no part', () => {
    const text = `{[,"\\${'{,'.repeat(parts)}`;
    expect(valueOf(Buffer.from(JSON.stringify([text])), { ref, encoding: 'json' })).toEqual([text]);
    expect(valueOf(Buffer.from(text), { ref, encoding: 'text' })).toBe(text);
  });

  it('that is no JSON is lost', () => {
    expect(() => valueOf(Buffer.from('{'), { ref, encoding: 'json' })).toThrow(lost);
  });
});
