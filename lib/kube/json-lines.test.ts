import fc from 'fast-check';
import { expect, it } from 'vitest';
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

it('reads 50 MB of events at more than 20 MB a second', async () => {
  const line = Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object: { data: 'x'.repeat(4_000) } })}\n`);
  const block = Buffer.concat(Array.from({ length: 16 }, () => line));
  async function* stream(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < 50_000_000; sent += block.length) yield block;
  }
  const started = performance.now();
  let events = 0;
  for await (const _ of readJsonLines(stream())) events += 1;
  expect(events).toBeGreaterThan(12_000);
  expect(performance.now() - started).toBeLessThan(2_500);
});
