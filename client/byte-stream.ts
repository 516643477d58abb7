import { WindlassConnectionError } from './api-error.ts';
import type { ByteStream } from './operation.ts';
import type { Sleep } from './sleep.ts';

/** How the pieces of an answer are waited for. */
interface ReadOptions {
  readonly signal?: AbortSignal;
  /** A connection that is silent for longer than this is dead, whatever the socket says. */
  readonly silence?: { readonly ms: number; readonly sleep: Sleep };
}

/** The body of an answer, piece by piece. A connection lost on the way throws; so does reading it twice. */
export function byteStream(response: Response, options: ReadOptions): ByteStream {
  const chunks = () => chunksOf(response, options);
  return {
    mediaType: response.headers.get('content-type') ?? '',
    [Symbol.asyncIterator]: chunks,
    async text() {
      const decoder = new TextDecoder();
      let text = '';
      for await (const chunk of chunks()) text += decoder.decode(chunk, { stream: true });
      return text + decoder.decode();
    },
  };
}

/** The pieces of a body. Leaving the loop early ends the transfer. */
export async function* chunksOf({ body, url }: Response, options: ReadOptions): AsyncGenerator<Uint8Array, void> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await unlessSilent(reader.read(), options);
      if (done) return;
      yield value;
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new WindlassConnectionError(`the connection was lost while reading ${placeOf(url)}`, { cause: error });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function unlessSilent<T>(reading: Promise<T>, { silence }: ReadOptions): Promise<T> {
  if (silence === undefined) return reading;
  const heard = new AbortController();
  const silent = silence.sleep(silence.ms, heard.signal).then((): T => {
    throw new Error(`nothing was heard for ${silence.ms} ms`);
  });
  // The loser of the race may still reject, and no caller waits for it any more.
  reading.catch(() => undefined);
  silent.catch(() => undefined);
  try {
    return await Promise.race([reading, silent]);
  } finally {
    heard.abort();
  }
}

/** Without the query, which may hold private values. */
function placeOf(url: string): string {
  return url === '' ? 'the answer' : new URL(url).pathname;
}
