import { Agent, fetch as request } from 'undici';
import type { Clock } from '../clock.ts';
import type { Secret } from '../node-config/secret.ts';
import { AttemptError } from './attempt-error.ts';
import { type IdleWatch, startIdleWatch } from './idle-watch.ts';
import { modelLimits } from './limits.ts';
import { asOurs, OwnFault, shortageIn } from './own-fault.ts';
import { refusedAttempt } from './refusal.ts';

type Fetch = typeof fetch;

/**
 * One request to a provider. The packages of the providers send through `fetch`, which bounds the answer and notes what
 * went wrong below them, in the same words for all of them.
 */
export interface Exchange extends Disposable {
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  /** The first failure below the package. */
  readonly failure: AttemptError | OwnFault | undefined;
  /** Whether the provider has answered, with whatever it was. */
  readonly isAnswered: boolean;
  /** Ends the request with this failure. */
  fail(failure: AttemptError | OwnFault): void;
}

interface ExchangeOptions {
  readonly clock: Clock;
  /** Ends the request: its caller, or its time. */
  readonly signal: AbortSignal;
  readonly key?: Secret;
  /** Called when an answer begins that is no refusal. */
  readonly begun: () => void;
  /** Looks at each line before the package does; it throws where the line is wrong. */
  readonly checkLine?: (line: string) => void;
}

/**
 * The time of a request and of silence is ours to watch; undici's own bounds would end a slow model after 5 minutes. An idle
 * connection is left soon: servers close theirs after 5 seconds, and a request that meets the close is lost.
 */
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 });

/** Opens an exchange for one request. */
export function openExchange(options: ExchangeOptions): Exchange {
  return new GuardedExchange(options);
}

class GuardedExchange implements Exchange {
  readonly signal: AbortSignal;
  readonly #options: ExchangeOptions;
  readonly #broken = new AbortController();
  #watch: IdleWatch | undefined;
  failure: AttemptError | OwnFault | undefined;
  isAnswered = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.signal = AbortSignal.any([options.signal, this.#broken.signal]);
  }

  readonly fetch: Fetch = async (url, init) => {
    const response = await this.#send(addressOf(url), init);
    this.isAnswered = true;
    if (!response.ok) return this.#refused(response);
    this.#begin();
    if (response.body === null) return response;
    const stream = ReadableStream.from(this.#guarded(response.body, init?.signal));
    return new Response(stream, { status: response.status, headers: response.headers });
  };

  #begin(): void {
    try {
      this.#options.begun();
    } catch (error) {
      this.fail(new OwnFault(error));
      throw error;
    }
  }

  fail(failure: AttemptError | OwnFault): void {
    // An error that follows from an end that the caller wanted is no failure of the provider.
    if (!this.#options.signal.aborted) this.failure ??= failure;
    this.#broken.abort(failure);
  }

  /** A package may leave a stream unread, which would hold its connection. */
  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
    this.#broken.abort('ended');
  }

  async #send(url: string, init: RequestInit = {}): Promise<Response> {
    const { signal } = init;
    const either = signal ? AbortSignal.any([signal, this.signal]) : this.signal;
    // A redirect could carry the key to another host.
    const settings = { ...init, redirect: 'manual', signal: either, dispatcher: agent } as const;
    try {
      // Undici's own types and those of Node describe the same objects.
      return (await request(url, settings as Parameters<typeof request>[1])) as unknown as Response;
    } catch (error) {
      this.fail(
        isOfConnection(error)
          ? new AttemptError('unavailable', `cannot be reached: ${causeOf(error)}`)
          : new OwnFault(error),
      );
      throw error;
    }
  }

  async #refused(response: Response): Promise<Response> {
    const { status, headers } = response;
    const body = await textOf(response);
    this.fail(refusedAttempt({ status, body, headers }, this.#options.clock.now(), this.#options.key));
    return Response.json({ error: { message: 'refused' } }, { status });
  }

  /** The same bytes, as long as they keep to the bounds. */
  async *#guarded(body: ReadableStream<Uint8Array>, own?: AbortSignal | null): AsyncGenerator<Uint8Array> {
    const lines = createLineGuard(this.#options.checkLine);
    try {
      for await (const chunk of body) {
        // Before its first word a model may think for long; the time of the request bounds that.
        this.#watch ??= startIdleWatch(this.#options.clock, modelLimits.idleMs, () => this.fail(silent()));
        this.#watch.touch();
        asOurs(() => lines.push(chunk));
        yield chunk;
      }
      asOurs(() => lines.end());
    } catch (error) {
      if (error instanceof AttemptError || error instanceof OwnFault) this.fail(error);
      // A package that has read enough, or cannot read on, ends the stream by its own signal.
      else if (!own?.aborted) this.fail(new AttemptError('unavailable', 'broke off its answer'));
      throw error;
    }
  }
}

function addressOf(url: Parameters<Fetch>[0]): string {
  if (typeof url === 'string') return url;
  return 'url' in url ? url.url : url.href;
}

const silent = (): AttemptError =>
  new AttemptError('unavailable', `sent nothing for ${modelLimits.idleMs / 1_000} seconds`);

/** `fetch` throws a TypeError without a cause for a request that it cannot make, and one with a cause for the network. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name !== 'TypeError' || error.cause !== undefined) &&
  shortageIn(error) === undefined;

/** Code of the system, such as ECONNREFUSED: the message may hold an address with a password. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'network error';
}

async function textOf({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length >= modelLimits.refusalBytes) break;
    }
  } catch {
    // The status alone says enough.
  }
  return text;
}

const newline = 10;

/** Bounds each line and the whole; gives whole lines to `check`, where there is one. */
function createLineGuard(check: ((line: string) => void) | undefined): {
  push(chunk: Uint8Array): void;
  end(): void;
} {
  const decoder = new TextDecoder();
  let total = 0;
  let length = 0;
  let rest = '';
  const bound = (chunk: Uint8Array): void => {
    total += chunk.length;
    const first = chunk.indexOf(newline);
    length += first < 0 ? chunk.length : first;
    if (total > modelLimits.streamBytes) throw tooLong('an answer', modelLimits.streamBytes);
    if (length > modelLimits.eventBytes) throw tooLong('one event', modelLimits.eventBytes);
    // Lines within a chunk are as short as the chunk.
    if (first >= 0) length = chunk.length - chunk.lastIndexOf(newline) - 1;
  };
  const take = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') check?.(line);
  };
  return {
    push(chunk) {
      bound(chunk);
      if (check !== undefined) take(decoder.decode(chunk, { stream: true }));
    },
    end() {
      if (check !== undefined) take(`${decoder.decode()}\n`);
    },
  };
}

const tooLong = (what: string, bytes: number): AttemptError =>
  new AttemptError('malformed', `sent ${what} of more than ${bytes} bytes`);
