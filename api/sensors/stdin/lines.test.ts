import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InputLine, readLines } from './lines.ts';

const never = new AbortController().signal;

async function collect(stream: Readable, maxBytes = 10, stop = never): Promise<(string | undefined)[]> {
  const lines: InputLine[] = [];
  for await (const line of readLines(stream, maxBytes, stop)) lines.push(line);
  expect(lines.map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1));
  return lines.map(({ bytes }) => bytes?.toString());
}

const of = (...chunks: string[]): Readable =>
  Readable.from(
    chunks.map((chunk) => Buffer.from(chunk)),
    { objectMode: false },
  );

describe('lines of a stream', () => {
  it.each<[title: string, chunks: string[], want: (string | undefined)[]]>([
    ['none', [], []],
    ['one', ['a\n'], ['a']],
    ['one without an end', ['a'], ['a']],
    ['cut anywhere', ['a', 'b\nc', '\n', 'd'], ['ab', 'c', 'd']],
    ['empty ones too', ['\n\na\n\n'], ['', '', 'a', '']],
    ['with carriage returns', ['a\r\nb\r', '\nc\rd\r\n'], ['a', 'b', 'c\rd']],
    ['of n−1 bytes', ['123456789\n'], ['123456789']],
    ['of n bytes', ['1234567890\n'], ['1234567890']],
    ['of n bytes and a carriage return', ['1234567890\r\n'], ['1234567890']],
    ['of n bytes without an end', ['1234567890'], ['1234567890']],
    ['of n+1 bytes, which are not kept, and the next', ['12345678901\nb\n'], [undefined, 'b']],
    ['of n+1 bytes and a carriage return', ['12345678901\r\nb'], [undefined, 'b']],
    ['of very many bytes in pieces', [...Array.from({ length: 1_000 }, () => 'xxxx'), '\nb'], [undefined, 'b']],
    ['of many bytes without an end', ['12345678901'], [undefined]],
  ])('%s', async (_title, chunks, want) => {
    expect(await collect(of(...chunks))).toEqual(want);
  });

  it('are the same however they are cut', async () => {
    const bytes = fc.array(fc.constantFrom('a', 'é', '\n', '\r'), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(bytes, fc.infiniteStream(fc.integer({ min: 1, max: 5 })), async (letters, sizes) => {
        const whole = Buffer.from(letters.join(''));
        const pieces: Buffer[] = [];
        for (let at = 0; at < whole.length; ) {
          const size = sizes.next().value ?? 1;
          pieces.push(whole.subarray(at, at + size));
          at += size;
        }
        const cut = await collect(Readable.from(pieces, { objectMode: false }));
        expect(cut).toEqual(await collect(Readable.from([whole], { objectMode: false })));
      }),
      { numRuns: 100 },
    );
  });

  it('are read no faster than they are taken', async () => {
    let given = 0;
    const source = new Readable({
      highWaterMark: 64,
      read() {
        given += 1;
        this.push('0123456\n'.repeat(4));
      },
    });
    const lines = readLines(source, 100, never);
    await lines.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(given).toBeLessThan(10);
    await lines.return(undefined);
    expect(source.destroyed).toBe(true);
  });

  it('that have come before the stop are given, half a line is not, and nothing more is read', async () => {
    const stop = new AbortController();
    const stream = new PassThrough();
    const lines = readLines(stream, 100, stop.signal);
    stream.write('a\nb\n');
    expect((await lines.next()).value).toMatchObject({ number: 1 });
    stream.write('c\nhal');
    stop.abort();
    const rest: string[] = [];
    for await (const { bytes } of lines) rest.push(String(bytes));
    expect(rest).toEqual(['b', 'c']);
    expect(stream.destroyed).toBe(true);
  });

  it('end at once when the signal aborts while none comes', async () => {
    const stop = new AbortController();
    const collected = collect(new PassThrough(), 10, stop.signal);
    await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    expect(await collected).toEqual([]);
  });

  it('end at once when the signal had aborted before', async () => {
    expect(await collect(new PassThrough(), 10, AbortSignal.abort())).toEqual([]);
  });

  it('end when the stream is closed under them', async () => {
    const stream = new PassThrough();
    const collected = collect(stream);
    stream.destroy();
    expect(await collected).toEqual([]);
  });

  it('pass on the error of a stream that breaks', async () => {
    const stream = new PassThrough();
    const collected = collect(stream);
    stream.destroy(new Error('EIO'));
    await expect(collected).rejects.toThrow('EIO');
  });
});
