import type { Client } from '@modelcontextprotocol/client';
import { limits } from '../../crds/limits.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import { isTooDeep } from '../nesting.ts';
import type { McpServerEntry, Secret } from '../node-config/index.ts';
import { mcpLimits } from './limits.ts';
import { inGreeting, inQuestion } from './question.ts';
import { requireFlat } from './read-answer.ts';
import { mcpRefusal } from './server-error.ts';

type Json = Readonly<Record<string, unknown>>;

/** A session with one server. */
export interface McpSession {
  /** Gives each page that the server lists to `take`, within our bounds of pages and tools. */
  list(signal: AbortSignal, take: (rows: readonly unknown[]) => Promise<void>): Promise<void>;
  call(tool: string, args: Json, signal: AbortSignal): Promise<Json>;
  /** Takes no more calls, and ends with those under way. */
  retire(): void;
  /** Ends calls as well. Never rejects. */
  close(): Promise<void>;
}

/** Where a session is opened, and with which key. */
export type McpEndpoint = Pick<McpServerEntry, 'url' | 'api_key' | 'api_key_header'>;

/** Opens a session. It and its calls reject with an McpRefusal, or with whatever else the library throws. */
export async function openMcpSession(
  clock: Clock,
  server: McpEndpoint,
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>,
  signal: AbortSignal,
): Promise<McpSession> {
  const { Client: McpClient, StreamableHTTPClientTransport: Transport } = await import('@modelcontextprotocol/client');
  // It offers nothing to servers: no sampling, no elicitation, no roots.
  const client = new McpClient(
    { name: manifest.name, version: manifest.version },
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  );
  const transport = new Transport(new URL(server.url), {
    fetch,
    requestInit: { headers: keyHeader(server) },
    redirectPolicy: 'follow',
    onInsufficientScope: 'throw',
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  const redactor = redactorOf(server.api_key);
  const stop = (): void => void client.close().catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await inGreeting(clock, () => client.connect(transport, { timeout: mcpLimits.listMs, signal }));
    return sessionOf(clock, client, redactor);
  } catch (error) {
    stop();
    throw mcpRefusal(error, redactor.text) ?? error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function keyHeader({ api_key: key, api_key_header: name }: McpEndpoint): Record<string, string> {
  if (key === undefined) return {};
  return name === undefined ? { Authorization: `Bearer ${key.reveal()}` } : { [name]: key.reveal() };
}

function sessionOf(clock: Clock, client: Client, redactor: Redactor): McpSession {
  const close = (): Promise<void> => client.close().catch(() => undefined);
  let [underWay, isRetired] = [0, false];
  async function during<T>(work: () => Promise<T>): Promise<T> {
    underWay += 1;
    try {
      return await work();
    } catch (error) {
      throw mcpRefusal(error, redactor.text) ?? error;
    } finally {
      underWay -= 1;
      if (isRetired && underWay === 0) void close();
    }
  }
  const ask: Ask = (request, outer, timeout) =>
    inQuestion(clock, outer, (signal) => client.request(request, asItCame, { signal, timeout }));
  return {
    list: (signal, take) =>
      during(() =>
        listAll(ask, signal, (rows) =>
          take(rows.map((row) => (isTooDeep(row, rowLevels) ? undefined : redactor.value(row)))),
        ),
      ),
    call: (tool, args, signal) =>
      during(async () => {
        const params = { name: tool, arguments: { ...args } };
        const request = { method: 'tools/call', params };
        const answered = await ask(request, signal, longestMs);
        requireFlat(answered);
        const answer = redactor.value(answered);
        return isJsonObject(answer) ? answer : {};
      }),
    retire() {
      isRetired = true;
      if (underWay === 0) void close();
    },
    close,
  };
}

type Ask = (
  request: { readonly method: string; readonly params: Readonly<Record<string, unknown>> },
  signal: AbortSignal,
  timeout: number,
) => Promise<unknown>;

/**
 * Takes results of any form: `read-answer.ts` and `read-tools.ts` read them. The rules of the library cost some 40 µs and
 * 400 bytes for each content that is none, of which an answer of 4 MiB has a million.
 */
const asItCame = {
  '~standard': { version: 1, vendor: 'windlass', validate: (value: unknown) => ({ value }) },
} as const;

/** Not by `listTools`, which compiles schemas of the server with a validator that has no bounds. */
async function listAll(ask: Ask, signal: AbortSignal, take: Parameters<McpSession['list']>[1]): Promise<void> {
  let cursor: string | undefined;
  let listed = 0;
  for (let page = 0; page < mcpLimits.pagesPerList && listed < mcpLimits.toolsListed; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: 'tools/list', params };
    const answer = await ask(request, signal, mcpLimits.listMs);
    const { tools, nextCursor }: Json = isJsonObject(answer) ? answer : {};
    if (!Array.isArray(tools)) throw new AppError('unavailable', 'the server lists no tools');
    await take(tools);
    listed += tools.length;
    if (typeof nextCursor !== 'string') break;
    cursor = nextCursor;
  }
}

/** A tool holds a schema, which has as many levels as JSON may have. A tool with more is left out. */
const rowLevels = limits.jsonDepth + 1;

/** The signal of a call ends it; the library wants a number. */
const longestMs = 3_600_000;

/** Takes the key out of what the server has sent: it may have sent that back. */
interface Redactor {
  readonly text: (text: string) => string;
  /** Anywhere in a value of JSON that is not nested too deep. */
  readonly value: (value: unknown) => unknown;
}

function redactorOf(key: Secret | undefined): Redactor {
  if (key === undefined) return { text: (text) => text, value: (value) => value };
  const plain = key.reveal();
  const text = (shown: string): string => shown.replaceAll(plain, redacted);
  // A number keeps the first digits of a key of many.
  const parts = /^\d+$/.test(plain) ? [plain, String(Number(plain))] : [plain];
  const isKey = (number: number): boolean => parts.some((part) => String(number).includes(part));
  const written = [JSON.stringify(plain).slice(1, -1), ...parts.slice(1)];
  // In the text of the JSON, the key may be a part of a number, a word, or a sign between two values.
  const value = (shown: unknown): unknown => {
    if (typeof shown === 'string') return text(shown);
    if (typeof shown === 'number') return isKey(shown) ? redacted : shown;
    if (Array.isArray(shown)) return shown.map(value);
    if (!isJsonObject(shown)) return shown;
    return Object.fromEntries(Object.entries(shown).map(([name, member]) => [text(name), value(member)]));
  };
  return {
    text,
    value(shown) {
      const json = JSON.stringify(shown);
      return written.some((part) => json.includes(part)) ? value(shown) : shown;
    },
  };
}

const redacted = '[secret]';
