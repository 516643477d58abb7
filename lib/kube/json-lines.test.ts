import fc from 'fast-check';
import { expect, it } from 'vitest';
import { growthOf, proportional } from '../../test/support/processor-time.ts';
import { readJsonLines } from './json-lines.ts';

async function* cut(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [...cuts.map((at) => at % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let start = 0;
  for (const end of places) {
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function read(stream: AsyncIterable<Uint8Array>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of readJsonLines(stream)) values.push(value);
  return values;
}

it('gives the values of all lines wherever the bytes are cut', async () => {
  const text = fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed());
  await fc.assert(
    fc.asyncProperty(fc.array(fc.dictionary(text, text)), fc.array(fc.nat()), async (values, cuts) => {
      const lines = values.map((value) => `${JSON.stringify(value)}\n`).join('');
      expect(await read(cut(Buffer.from(lines), cuts))).toEqual(JSON.parse(JSON.stringify(values)));
    }),
  );
});

it('passes over empty lines', async () => {
  expect(await read(cut(Buffer.from('\n{"a":1}\r\n\n'), [1, 4]))).toEqual([{ a: 1 }]);
});

it.each(['{"a":', '{}x\n', '{"a":1}\n{"b"'])('throws on %j', async (text) => {
  await expect(read(cut(Buffer.from(text), []))).rejects.toThrow(SyntaxError);
});

it('reads a stream in processor time in proportion to its events', async () => {
  const line = Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object: { data: 'x'.repeat(4_000) } })}\n`);
  const block = Buffer.concat(Array.from({ length: 16 }, () => line));
  const readBlocks = async (blocks: number): Promise<void> => {
    let events = 0;
    for await (const _ of readJsonLines(cut(Buffer.concat(Array(blocks).fill(block)), []))) events += 1;
    expect(events).toBe(16 * blocks);
  };
  expect(await growthOf(20, readBlocks)).toBeLessThan(proportional);
});

it('reads a line that comes in many pieces in processor time in proportion to them', async () => {
  const readPieces = async (pieces: number): Promise<void> => {
    const line = Buffer.from(`"${'x'.repeat(64 * pieces)}"\n`);
    const cuts = Array.from({ length: pieces }, (_, index) => 64 * (index + 1));
    expect(await read(cut(line, cuts))).toHaveLength(1);
  };
  expect(await growthOf(2_000, readPieces)).toBeLessThan(proportional);
});
