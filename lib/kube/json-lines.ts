import { AppError } from '../errors.ts';

const newline = 0x0a;

/**
 * Bytes of a line at most. It has an object of etcd's 1.5 MiB and the event around it. The API server writes `<`, `>`
 * and `&` as six bytes each (`objectBytes` of a list is the same).
 */
export const lineBytes = 16 * 1024 * 1024;

/**
 * One JSON value a line, from chunks cut anywhere. A line is decoded only when it is whole, so a character split
 * between two chunks stays intact. `read` makes the value of a line, and nothing of a blank one. Throws SyntaxError on a line that is no JSON, and on a stream that ends within
 * a line: half an event is a broken connection. Throws AppError `limit_exceeded` on a longer line, before it is whole.
 */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax = lineBytes,
  read: (line: Buffer) => unknown = parseLine,
): AsyncGenerator<unknown, void, undefined> {
  /** The beginning of a line whose end has not come. */
  let pending: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      assertFits(bytes + end - start, bytesMax);
      const value = read(joined([...pending, chunk.subarray(start, end)]));
      pending = [];
      bytes = 0;
      start = end + 1;
      if (value !== undefined) yield value;
    }
    if (start === chunk.length) continue;
    bytes += chunk.length - start;
    assertFits(bytes, bytesMax);
    pending.push(chunk.subarray(start));
  }
  if (textOf(joined(pending)) !== '') throw new SyntaxError('the stream ended within a line');
}

function assertFits(bytes: number, bytesMax: number): void {
  if (bytes <= bytesMax) return;
  throw new AppError('limit_exceeded', `an event has more than ${bytesMax} bytes`, { reason: 'EventTooLarge' });
}

/** The value of a line; undefined for a blank one. @throws SyntaxError */
export function parseLine(line: Buffer): unknown {
  const text = textOf(line);
  return text === '' ? undefined : JSON.parse(text);
}

const textOf = (line: Buffer): string => line.toString('utf8').trim();

function joined(parts: readonly Uint8Array[]): Buffer {
  const whole = parts.length === 1 ? parts[0] : undefined;
  return whole === undefined ? Buffer.concat(parts) : Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
}
