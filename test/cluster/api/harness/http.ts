import { once } from 'node:events';
import { connect } from 'node:net';
import { Agent, request } from 'undici';

/** The request. */
export interface Sending {
  /** @default GET, or POST with a body */
  readonly method?: string;
  /** Put into `Authorization: Bearer …`. */
  readonly token?: string;
  /** A list of pairs sends a header as often as the list holds it. */
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[];
  /** Text and bytes go as they are; anything else as JSON, with its content type. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** The answer. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON. */
  json<T = Record<string, unknown>>(): T;
}

/** One line of `text/event-stream` after another, put together. */
export interface ReceivedEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: unknown;
}

/** A stream of events that is under way. */
export interface EventStream {
  readonly status: number;
  readonly headers: Received['headers'];
  /** Ends with the stream. */
  readonly events: AsyncIterable<ReceivedEvent>;
  /** Everything received so far, comments included. */
  text(): string;
  /** Leaves. */
  close(): void;
}

/** Calls one replica, over connections of its own. */
export interface HttpClient {
  send(path: string, sending?: Sending): Promise<Received>;
  open(path: string, sending?: Sending): Promise<EventStream>;
  /** Writes bytes to a new connection and reads until the other side closes it or `timeoutMs` are over. */
  raw(bytes: string | Uint8Array, timeoutMs?: number): Promise<string>;
  close(): Promise<void>;
}

export function createHttpClient(url: string): HttpClient {
  const dispatcher = new Agent({ connections: 64, bodyTimeout: 0, headersTimeout: 60_000 });
  const call = (path: string, sending: Sending) => {
    const { method = sending.body === undefined ? 'GET' : 'POST', signal } = sending;
    const { body, headers } = prepare(sending);
    return request(`${url}${path}`, { dispatcher, method: method as 'GET', headers, body, signal });
  };
  return {
    async send(path, sending = {}) {
      const { statusCode: status, headers, body } = await call(path, sending);
      const text = await body.text();
      return { status, headers, text, json: <T>() => JSON.parse(text) as T };
    },
    async open(path, sending = {}) {
      const over = new AbortController();
      const signal = sending.signal === undefined ? over.signal : AbortSignal.any([sending.signal, over.signal]);
      const { statusCode: status, headers, body } = await call(path, { ...sending, signal });
      let text = '';
      async function* lines(): AsyncGenerator<ReceivedEvent> {
        let rest = '';
        for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
          text += chunk;
          const frames = (rest + chunk).split('\n\n');
          rest = frames.pop() ?? '';
          for (const frame of frames) yield* eventOf(frame);
        }
      }
      body.on('error', () => undefined);
      return { status, headers, events: lines(), text: () => text, close: () => over.abort() };
    },
    raw: (bytes, timeoutMs = 5_000) => exchange(new URL(url), bytes, timeoutMs),
    close: () => dispatcher.destroy(),
  };
}

function prepare({ token, headers = {}, body }: Sending): { headers: string[]; body: string | Uint8Array | undefined } {
  const pairs = [...(Array.isArray(headers) ? headers : Object.entries(headers))] as (readonly [string, string])[];
  if (token !== undefined) pairs.push(['authorization', `Bearer ${token}`]);
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  if (!isRaw && !pairs.some(([name]) => name.toLowerCase() === 'content-type')) {
    pairs.push(['content-type', 'application/json']);
  }
  return { headers: pairs.flat(), body: isRaw ? body : JSON.stringify(body) };
}

function* eventOf(frame: string): Generator<ReceivedEvent> {
  const fields = new Map<string, string>();
  for (const line of frame.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
  }
  const data = fields.get('data');
  if (data !== undefined) yield { id: fields.get('id'), event: fields.get('event'), data: JSON.parse(data) as unknown };
}

async function exchange(url: URL, bytes: string | Uint8Array, timeoutMs: number): Promise<string> {
  const socket = connect(Number(url.port), url.hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(bytes);
  const hard = setTimeout(() => socket.destroy(), timeoutMs);
  await once(socket, 'close');
  clearTimeout(hard);
  return Buffer.concat(chunks).toString('utf8');
}
