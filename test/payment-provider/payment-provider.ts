import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Ledger } from './ledger.ts';
import { operations } from './operations.ts';
import { ProviderError } from './refusal.ts';

/** A request as it was seen. */
interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/** The fault of a request in place of its answer. */
type Mishap =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Record<string, string>;
    }
  | { readonly kind: 'hang' }
  /** The connection breaks; `carriedOut` when only the answer is lost. */
  | { readonly kind: 'break'; readonly carriedOut: boolean };

/**
 * A double of the payment provider that keeps books, for what stripe-mock cannot play: the life of a subscription,
 * idempotency, and failures. The only double of the project, because no real provider can be paid in a test.
 */
export interface PaymentProviderDouble {
  readonly url: string;
  readonly secretKey: string;
  readonly ledger: Ledger;
  readonly seen: readonly SeenRequest[];
  /** Faults of the next requests `at` such a method and path, one each, before all is well again. */
  readonly mishaps: { readonly at: string; readonly mishap: Mishap }[];
  searchLags: boolean;
  /** Milliseconds that each request takes. */
  delayMs: number;
  seenAt(path: string): SeenRequest[];
  stop(): Promise<void>;
}

const secretKey = 'sk_test_a-key-that-must-not-show';

interface Remembered {
  readonly fingerprint: string;
  readonly answer: Promise<Answer>;
  done: boolean;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function startPaymentProvider(): Promise<PaymentProviderDouble> {
  const ledger = new Ledger();
  const seen: SeenRequest[] = [];
  const known = new Map<string, Remembered>();
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const double: PaymentProviderDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secretKey,
    ledger,
    seen,
    mishaps: [],
    searchLags: false,
    delayMs: 0,
    seenAt: (path) => seen.filter((one) => one.path === path),
    stop: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const { pathname: path, searchParams } = new URL(url, 'http://double');
    const fields = Object.fromEntries(method === 'POST' ? new URLSearchParams(await text(request)) : searchParams);
    const idempotencyKey = request.headers['idempotency-key']?.toString();
    const one = { method, path, fields, idempotencyKey };
    seen.push(one);
    if (double.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, double.delayMs));
    const index = double.mishaps.findIndex(({ at }) => at === `${method} ${path}`);
    const [met] = index === -1 ? [] : double.mishaps.splice(index, 1);
    if (met?.mishap.kind === 'hang') return;
    if (met?.mishap.kind === 'answer') return send(response, met.mishap);
    if (met?.mishap.kind === 'break' && !met.mishap.carriedOut) return void request.socket.destroy();
    const answer = await once(one, request.headers.authorization);
    if (met !== undefined) return void request.socket.destroy();
    send(response, answer);
  }

  /** As the provider does: a key in use is a conflict, a known one gives the first answer again. */
  async function once(one: SeenRequest, authorization: string | undefined): Promise<Answer> {
    const { idempotencyKey: key } = one;
    if (key === undefined) return answerTo(one, authorization);
    const before = known.get(key);
    const fingerprint = JSON.stringify([one.path, one.fields]);
    if (before === undefined) {
      const entry = { fingerprint, answer: answerTo(one, authorization), done: false };
      known.set(key, entry);
      await entry.answer.finally(() => (entry.done = true));
      return entry.answer;
    }
    if (before.fingerprint !== fingerprint) return { status: 400, body: idempotency('the key came with other fields') };
    if (!before.done) return { status: 409, body: idempotency('the key is in use', 'idempotency_key_in_use') };
    return { ...(await before.answer), headers: { 'idempotent-replayed': 'true' } };
  }

  async function answerTo({ method, path, fields }: SeenRequest, authorization: string | undefined): Promise<Answer> {
    if (authorization !== `Bearer ${secretKey}`) {
      return {
        status: 401,
        body: { error: { type: 'invalid_request_error', message: `Invalid key ${authorization}` } },
      };
    }
    const id = path.split('/').at(-1) ?? '';
    const operation = operations[`${method} ${path}`] ?? operations[`${method} ${path.replace(/[^/]+$/, '{id}')}`];
    if (operation === undefined) return { status: 404, body: { error: { type: 'invalid_request_error' } } };
    // Work takes a moment, in which a second request with the same key may come.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      return { status: 200, body: operation({ ledger, fields, id, searchLags: double.searchLags }) };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return { status: error.status, body: error.body, headers: error.headers };
    }
  }

  return double;
}

const idempotency = (message: string, code?: string): unknown => ({
  error: { type: 'idempotency_error', message, code },
});

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_double', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
