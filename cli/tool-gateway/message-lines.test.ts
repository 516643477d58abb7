import { describe, expect, it } from 'vitest';
import { type MessageLine, messageLines } from './message-lines.ts';

const never = new AbortController().signal;

async function linesOf(...chunks: readonly (string | Uint8Array)[]): Promise<(string | undefined)[]> {
  const input = (async function* () {
    yield* chunks;
  })();
  const found: MessageLine[] = [];
  for await (const line of messageLines(input, never, 8)) found.push(line);
  return found.map((line) => (line.kind === 'line' ? line.text : undefined));
}

describe('the lines of standard input', () => {
  it('are put together from pieces, also from half a character', async () => {
    const bytes = Buffer.from('ä\nb');
    expect(await linesOf(bytes.subarray(0, 1), bytes.subarray(1), 'c\r\n', '\n', ' \n', 'last')).toEqual([
      'ä',
      'bc',
      'last',
    ]);
  });

  it.each([
    ['1234567', '1234567'],
    ['12345678', '12345678'],
    ['123456789', undefined],
  ])('have eight bytes at most: %s', async (text, line) => {
    expect(await linesOf(`${text}\nnext`)).toEqual([line, 'next']);
    expect(await linesOf(...text.split(''), '\n', 'next')).toEqual([line, 'next']);
  });

  it('end when the process is to stop, though nothing comes', async () => {
    const stop = new AbortController();
    const input = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    const reading = messageLines(input, stop.signal).next();
    stop.abort();
    expect(await reading).toEqual({ done: true, value: undefined });
  });
});
