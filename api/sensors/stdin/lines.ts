import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** A line without its end; `bytes` is absent when there were more than allowed. Numbers begin with 1. */
export interface InputLine {
  readonly number: number;
  readonly bytes?: Buffer;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * The lines of a stream, read no faster than they are taken. A line of more than `maxBytes` is read to its end and not
 * kept. The last one needs no line feed, unless `stop` has cut it short: then it may be half a line, and is left out.
 */
export async function* readLines(stream: Readable, maxBytes: number, stop: AbortSignal): AsyncGenerator<InputLine> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;

  function take(part: Buffer): void {
    length += part.length;
    // One byte more than allowed, as it may be the carriage return of the line's end.
    if (length <= maxBytes + 1) parts.push(part);
    else parts = [];
  }

  function finish(): InputLine {
    number += 1;
    const bytes = length <= maxBytes + 1 ? withoutReturn(Buffer.concat(parts)) : undefined;
    parts = [];
    length = 0;
    return bytes === undefined || bytes.length > maxBytes ? { number } : { number, bytes };
  }

  for await (const chunk of chunksOf(stream, stop)) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      take(chunk.subarray(start, end));
      start = end + 1;
      yield finish();
    }
    if (start < chunk.length) take(chunk.subarray(start));
  }
  if (length > 0 && !stop.aborted) yield finish();
}

const withoutReturn = (bytes: Buffer): Buffer => (bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes);

/** Chunks until the end of the stream, or until `stop` aborts: what the stream holds by then is the last one. */
async function* chunksOf(stream: Readable, stop: AbortSignal): AsyncGenerator<Buffer> {
  try {
    while (!stop.aborted && !stream.readableEnded && !stream.closed) {
      const chunk = stream.read() as Buffer | null;
      if (chunk === null) await nextEvent(stream, stop);
      else yield chunk;
    }
    const rest = stop.aborted && stream.readableLength > 0 ? (stream.read() as Buffer | null) : null;
    if (rest !== null) yield rest;
  } finally {
    stream.destroy();
  }
}

/** Resolves when there may be more to read, or nothing more will come; rejects with the stream's error. */
async function nextEvent(stream: Readable, stop: AbortSignal): Promise<void> {
  if (stream.errored !== null) throw stream.errored;
  if (stream.destroyed) return;
  const settled = new AbortController();
  const signal = AbortSignal.any([stop, settled.signal]);
  try {
    await Promise.race(['readable', 'end', 'close'].map((event) => once(stream, event, { signal })));
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    settled.abort();
  }
}
