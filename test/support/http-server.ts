import { connect, type Socket } from 'node:net';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createLogger } from '../../lib/logger.ts';
import { createHttpApp, type HttpApp, type HttpAppOptions } from '../../lib/http/http-app.ts';
import { type Listener, type ListenOptions, listen } from '../../lib/http/listener.ts';
import type { Route } from '../../lib/http/route.ts';

/** Callers in tests: `Bearer <name>` is a caller of the tenant of that name. */
export interface TestCaller {
  readonly name: string;
}

export interface TestServer {
  readonly app: HttpApp;
  readonly listener: Listener;
  readonly port: number;
  readonly url: string;
  /** Log lines. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

/** Serves routes on a free port of loopback, with everything real but the identity of callers. */
export async function startTestServer(
  routes: readonly Route<TestCaller>[],
  options: Partial<HttpAppOptions<TestCaller>> & Pick<ListenOptions, 'timeouts' | 'connections'> = {},
): Promise<TestServer> {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const clock: Clock = options.clock ?? systemClock;
  const app = createHttpApp<TestCaller>({
    routes,
    authenticate,
    tenantOf: ({ name }) => name,
    logger: createLogger({ level: 'debug', service: 'test', destination }),
    newId: () => 'generated-id',
    ...options,
    clock,
  });
  const { timeouts, connections } = options;
  const listener = await listen(app, { port: 0, host: '127.0.0.1', timeouts, connections });
  return {
    app,
    listener,
    port: listener.port,
    url: `http://127.0.0.1:${listener.port}`,
    lines,
    close: () => listener.close(AbortSignal.abort()),
  };
}

async function authenticate({ authorization = '' }: { readonly authorization?: string }): Promise<TestCaller> {
  const name = /^Bearer (\w+)$/.exec(authorization)?.[1];
  if (name === undefined) throw new AppError('unauthenticated', 'no token');
  return { name };
}

/** An answer as it came over the wire. */
interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends bytes as they are, and reads until the server closes the connection or the answer is complete. */
export async function sendRaw(port: number, ...parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  for (const part of parts) socket.write(part);
  return readAnswer(socket);
}

/** The first answer on a connection, which is then ended. */
export async function readAnswer(socket: Socket): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of socket) {
      chunks.push(chunk as Buffer);
      const answer = parseAnswer(Buffer.concat(chunks).toString());
      if (answer !== undefined && isComplete(answer)) return answer;
    }
  } finally {
    socket.destroy();
  }
  const rest = parseAnswer(Buffer.concat(chunks).toString());
  if (rest === undefined) throw new Error(`no answer: ${Buffer.concat(chunks).toString()}`);
  return rest;
}

function parseAnswer(text: string): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...fields] = text.slice(0, end).split('\r\n');
  const headers = fields.map((field) => {
    const [name = '', ...value] = field.split(': ');
    return [name.toLowerCase(), value.join(': ')];
  });
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers), body: text.slice(end + 4) };
}

function isComplete({ headers, body }: RawAnswer): boolean {
  const length = headers['content-length'];
  return length !== undefined && Buffer.byteLength(body) >= Number(length);
}

/** The text of a request with the given head and body; `Host` and `Content-Length` are filled in. */
export function requestText(first: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return `${[`${first} HTTP/1.1`, 'Host: test', ...headers, ...length].join('\r\n')}\r\n\r\n${body}`;
}
