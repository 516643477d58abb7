import type { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { AppError, messageOf } from '../errors.ts';
import { halfJitter } from '../backoff.ts';
import { NestedTooDeep } from '../nesting.ts';
import type { ClockSkew } from './clock-skew.ts';
import type { CredentialSource } from './credentials.ts';
import { createDispatchers, type Dispatchers, type Use } from './dispatchers.ts';
import { isQuotaRaced, KubeError, type RequestName } from './kube-error.ts';
import type { KubeStatus } from './objects.ts';
import { createRequestShares, type RequestPurpose, type RequestShares } from './request-shares.ts';
import { type Answer, sendOnce } from './unary.ts';

/** One request as an observer sees it. `code` is the HTTP status, or how the call ended without an answer. */
export interface RequestReport {
  readonly verb: string;
  /** `pods`, `pods/log`, `workflows.windlass.dev`… never a name of an object. */
  readonly resource: string;
  readonly code: string;
  readonly ms: number;
}

export interface TransportDeps {
  readonly credentials: CredentialSource;
  readonly clock: Clock;
  /** Receives the `Date` of each short answer. */
  readonly skew?: Pick<ClockSkew, 'observe'>;
  /** Called once for each request sent, repetitions included. Must not throw. */
  readonly onRequest?: (report: RequestReport) => void;
}

export interface TransportOptions {
  readonly userAgent?: string;
  /** Short requests under way at once, of all namespaces, those that write a status left aside. Default 40. */
  readonly maxRequests?: number;
  /** How long a call that writes may take, where it does not say itself. Default 30 s, as for a read. */
  readonly writeTimeoutMs?: number;
}

/** A request to be made. `path` starts with a slash. */
export interface Call extends RequestName, RequestPurpose {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Default JSON. */
  readonly accept?: string;
  /** Longest answer in bytes. Default: any. */
  readonly answerBytes?: number | undefined;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly guard?: () => void;
}

export interface Transport {
  /** The text of a successful answer. */
  send(call: Call): Promise<string>;
  /** The body of a successful GET as it comes. `timeoutMs` bounds only the wait for its beginning. */
  open(call: Call): Promise<Readable>;
  close(): Promise<void>;
}

const defaultTimeoutMs = 30_000;
/** One namespace has 32 of them: a quarter more than a controller has workers for it. */
const maxRequestsDefault = 40;
/** Sends of one call, the first included. */
const mostSends = 5;
/** First pause after a broken connection; doubles. */
const reconnectPauseMs = 100;
/** Pauses of requests that race for a quota: about a second in all. */
const racePauses = { baseMs: 50, maxMs: 800 };

export function createTransport(deps: TransportDeps, options: TransportOptions = {}): Transport {
  return new HttpTransport(deps, options);
}

class HttpTransport implements Transport {
  readonly #deps: TransportDeps;
  readonly #dispatchers: Dispatchers;
  readonly #shares: RequestShares;
  readonly #userAgent: string;
  readonly #writeTimeoutMs: number;

  constructor(deps: TransportDeps, options: TransportOptions) {
    this.#deps = deps;
    this.#shares = createRequestShares(deps.clock, options.maxRequests ?? maxRequestsDefault);
    this.#dispatchers = createDispatchers(this.#shares.most);
    this.#userAgent = options.userAgent ?? 'windlass';
    this.#writeTimeoutMs = options.writeTimeoutMs ?? defaultTimeoutMs;
  }

  async send(given: Call): Promise<string> {
    const call = this.#bounded(given);
    using deadline = startDeadline(this.#deps.clock, timeoutOf(call), call.signal);
    for (let sends = 1; ; sends++) {
      const outcome = await this.#attempt(call, deadline.signal);
      if (outcome.answer !== undefined && outcome.answer.status < 300) return outcome.answer.text;
      const pauseMs = sends < mostSends ? pauseBeforeRepeat(call, outcome, sends) : undefined;
      if (pauseMs === undefined || pauseMs > deadline.leftMs()) throw failureOf(call, outcome, deadline.signal);
      if (pauseMs > 0) await this.#deps.clock.sleep(pauseMs, deadline.signal);
      if (deadline.signal.aborted) throw failureOf(call, { error: deadline.signal.reason }, deadline.signal);
    }
  }

  #bounded(call: Call): Call {
    return call.method === 'GET' ? call : { ...call, timeoutMs: call.timeoutMs ?? this.#writeTimeoutMs };
  }

  /** The stream lives on under the caller's signal alone once it has begun. */
  async open(call: Call): Promise<Readable> {
    const stop = new AbortController();
    const abort = (): void => stop.abort(call.signal?.reason);
    using beginning = startDeadline(this.#deps.clock, timeoutOf(call), call.signal);
    beginning.signal.addEventListener('abort', () => stop.abort(beginning.signal.reason), { once: true });
    call.signal?.addEventListener('abort', abort, { once: true });
    const started = performance.now();
    try {
      beginning.signal.throwIfAborted();
      const { dispatcher, request } = await this.#prepare(call, 'streams');
      const { statusCode, body } = await dispatcher.request({ ...request, signal: stop.signal });
      this.#report(call, String(statusCode), started);
      if (statusCode >= 300) throw await this.#refusal(call, statusCode, body);
      body.once('close', () => call.signal?.removeEventListener('abort', abort));
      return body;
    } catch (error) {
      call.signal?.removeEventListener('abort', abort);
      if (error instanceof KubeError) throw error;
      this.#report(call, endingOf(error, stop.signal), started);
      throw failureOf(call, { error }, stop.signal);
    }
  }

  async #refusal(call: Call, status: number, body: { text(): Promise<string> }): Promise<KubeError> {
    if (status === 401) this.#deps.credentials.refused();
    return new KubeError(status, statusOf(await body.text()), call);
  }

  close(): Promise<void> {
    return this.#dispatchers.close();
  }

  async #attempt(call: Call, signal: AbortSignal): Promise<Outcome> {
    let started = performance.now();
    try {
      call.guard?.();
      using _place = await this.#shares.enter(call, signal);
      started = performance.now();
      const { dispatcher, request } = await this.#prepare(
        call,
        call.isBookkeeping === true ? 'bookkeeping' : 'requests',
      );
      const sentAt = this.#deps.clock.now();
      const answer = await sendOnce(dispatcher, request, { signal, guard: call.guard, answerBytes: call.answerBytes });
      this.#deps.skew?.observe(dateOf(answer), sentAt, this.#deps.clock.now());
      this.#report(call, String(answer.status), started);
      if (answer.status === 401) this.#deps.credentials.refused();
      return { answer };
    } catch (error) {
      this.#report(call, endingOf(error, signal), started);
      return { error };
    }
  }

  async #prepare(call: Call, use: Use) {
    const endpoint = await this.#deps.credentials.current();
    const { origin, pathname } = new URL(endpoint.server);
    const prefix = pathname === '/' ? '' : pathname;
    const headers: Record<string, string | string[]> = {
      'user-agent': this.#userAgent,
      accept: call.accept ?? 'application/json',
    };
    for (const [name, value] of Object.entries(endpoint.headers)) {
      headers[name] = typeof value === 'string' ? value : [...value];
    }
    if (call.body !== undefined) headers['content-type'] = call.contentType ?? 'application/json';
    const body = call.body === undefined ? null : bodyOf(call.body);
    const path = `${prefix}${call.path}${queryOf(call.query)}`;
    return {
      dispatcher: this.#dispatchers.of(endpoint, use),
      request: { origin, path, method: call.method, headers, body },
    };
  }

  #report(call: Call, code: string, started: number): void {
    const ms = performance.now() - started;
    this.#deps.onRequest?.({ verb: call.verb, resource: call.resource, code, ms });
  }
}

/** An object that kubectl has stored may be too deep to be written again. */
function bodyOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NestedTooDeep('an object that is to be written');
  }
}

const dateOf = ({ headers: { date } }: Answer): string | undefined => (typeof date === 'string' ? date : undefined);

/** How a call without an answer is reported. Errors of our own, as of a guard, come before anything is sent. */
function endingOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'aborted';
  return error instanceof AppError ? 'unsent' : 'broken';
}

/** Either an answer or the error in its stead. */
interface Outcome {
  readonly answer?: Answer;
  readonly error?: unknown;
}

function timeoutOf(call: Call): number {
  return call.timeoutMs ?? defaultTimeoutMs;
}

/**
 * Milliseconds until the same request may be sent again, or undefined when it must not be. The server did nothing with a
 * request that it answered by 401 or 429, or that lost a race for a quota. A broken connection leaves open whether a write
 * took effect, so only reads are repeated then.
 */
function pauseBeforeRepeat(call: Call, outcome: Outcome, sends: number): number | undefined {
  const { answer } = outcome;
  if (answer === undefined)
    return call.method === 'GET' && isBroken(outcome.error) ? reconnectPauseMs * 2 ** (sends - 1) : undefined;
  if (answer.status === 401 && sends === 1) return 0;
  if (answer.status === 409 && isQuotaRaced(refusalOf(call, answer))) {
    return halfJitter(racePauses, sends - 1, Math.random());
  }
  return answer.status === 429 ? retryAfterOf(answer) : undefined;
}

const brokenCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && brokenCodes.has(error.code);
}

function retryAfterOf(answer: Answer): number | undefined {
  const seconds = Number(answer.headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

const refusalOf = (call: Call, answer: Answer): KubeError =>
  new KubeError(answer.status, statusOf(answer.text), call, retryAfterOf(answer));

function failureOf(call: Call, outcome: Outcome, signal: AbortSignal): unknown {
  const { answer, error: cause } = outcome;
  if (answer !== undefined) return refusalOf(call, answer);
  if (cause instanceof AppError) return cause;
  const what = [call.verb, call.resource, call.object].filter(Boolean).join(' ');
  if (call.signal?.aborted) return new AppError('cancelled', `${what}: cancelled`, { reason: 'Cancelled', cause });
  if (signal.aborted) {
    return new AppError('timeout', `${what}: no answer in ${timeoutOf(call)} ms`, { reason: 'NoAnswer', cause });
  }
  return new AppError('unavailable', `${what}: ${messageOf(cause)}`, { reason: 'Unreachable', cause });
}

/** Proxies and load balancers answer in HTML or plain text. */
function statusOf(text: string): KubeStatus {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) return body;
  } catch {
    // Not from the API server itself: its text is the message.
  }
  return { message: text.slice(0, 300).trim() || undefined };
}

function queryOf(query: Call['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
