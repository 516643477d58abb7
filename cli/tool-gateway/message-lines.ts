import { envelopeLimits } from '../../lib/envelope/limits.ts';

/** A line of standard input, or that one was too long and is left out. */
export type MessageLine = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'too_long' };

/**
 * The lines of a stream without empty ones, each of at most so many bytes as the gateway takes in a message. Ends with the
 * stream, or when `stop` aborts. A last line without its end counts.
 */
export async function* messageLines(
  input: AsyncIterable<Uint8Array | string>,
  stop: AbortSignal,
  mostBytes: number = envelopeLimits.envelopeBytes,
): AsyncGenerator<MessageLine> {
  const line = new OpenLine(mostBytes);
  for await (const chunk of untilStopped(input, stop)) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(lineFeed); end >= 0; end = rest.indexOf(lineFeed)) {
      line.add(rest.subarray(0, end));
      yield* line.close();
      rest = rest.subarray(end + 1);
    }
    line.add(rest);
  }
  yield* line.close();
}

const lineFeed = 0x0a;

/** A line whose end has not come. */
class OpenLine {
  readonly #mostBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#mostBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  close(): MessageLine[] {
    const isTooLong = this.#bytes > this.#mostBytes;
    const text = Buffer.concat(this.#parts).toString().trim();
    this.#parts = [];
    this.#bytes = 0;
    if (isTooLong) return [{ kind: 'too_long' }];
    return text === '' ? [] : [{ kind: 'line', text }];
  }
}

/** A stream that says nothing would keep the process otherwise. */
async function* untilStopped<T>(input: AsyncIterable<T>, stop: AbortSignal): AsyncGenerator<T> {
  const stopped = Promise.withResolvers<IteratorReturnResult<undefined>>();
  const end = (): void => stopped.resolve({ done: true, value: undefined });
  if (stop.aborted) end();
  stop.addEventListener('abort', end, { once: true });
  const iterator = input[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), stopped.promise]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    stop.removeEventListener('abort', end);
    // Not awaited: a stream ends such a wait with its next bytes alone.
    void iterator.return?.();
  }
}
