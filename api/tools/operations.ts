import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { createFairPool } from '../../lib/fair-pool.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { heapBytes } from '../../lib/heap-bytes.ts';
import type { Contract } from '../../lib/http/contract.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { jsonCost } from '../../lib/http/json-cost.ts';
import { withDefaults } from '../../lib/http/read-query.ts';
import type { Reply, Route } from '../../lib/http/route.ts';
import type { Caller } from '../../lib/identity/caller.ts';
import type { ToolCaller } from '../../lib/tools/tool.ts';
import { type RoomPart, type RoomyCaller, smallBytes } from './call-room.ts';

/** The request to an operation of the HTTP API. */
export interface Asked {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** Whether workflows of our own tools are seen; default: not. */
  readonly seesHelpers?: true;
  /** Scopes that the tool's policy has granted; default: none. */
  readonly scopes?: readonly string[];
  /** Ends the reading of an operation that answers with events. */
  readonly signal?: AbortSignal;
  /** Gets the headers of the answer before its events are read. */
  readonly started?: (headers: Readonly<Record<string, string>>) => void;
  /** Gets each event of an operation that answers with events, the last one included. */
  readonly event?: (name: string, data: unknown) => void;
  /** Whether what the operation starts has its name by the call, where that has an id. Default: false. */
  readonly once?: boolean;
}

/** The operations of the HTTP API, for tools: the same code with the same checks serves both. */
export interface Operations {
  /**
   * The value that the operation answers with, for the tenant of the tool's caller and with no role of an operator
   * (requirements AMB-194). Where the operation answers with events, it is the data of the last one. The value counts
   * against the room of the call until the call ends or drops it. @throws AppError, as the operation does.
   */
  call(operationId: string, caller: RoomyCaller, asked: Asked): Promise<unknown>;
  /** Gives the routes, which are made after the tools. */
  serve(routes: readonly Route<Caller>[]): void;
}

/**
 * Operations that tools of all tenants ask for at once. A place is taken before memory, and none waits for memory with a place (ADR 0185).
 */
const pooled = { size: 16, waiting: 200 };

export function createOperations(clock: Clock): Operations {
  const pool = createFairPool({ ...pooled, clock });
  let known: ReadonlyMap<string, Route<Caller>> = new Map();
  return {
    serve(routes) {
      known = new Map(routes.map((route) => [route.contract.operationId, route]));
    },
    async call(operationId, caller, asked) {
      const route = known.get(operationId);
      if (route === undefined)
        throw new AppError('unavailable', 'the API is about to start; try again', { reason: 'Starting' });
      const part = caller.room.part();
      const asking = requestOf(route, caller, asked);
      using place = await pool.enter({ tenant: caller.tenant });
      const reserve = (bytes: number): Promise<void> => {
        // Calls that hold memory wait for places. Memory bounds those that have it, so that they need no place.
        if (bytes > smallBytes) place.leave();
        return part.reserve(bytes);
      };
      const reply = await route.handle({ ...asking, reserve } as never);
      place.leave();
      asked.started?.(reply.headers ?? {});
      return await valueOf(reply, part, asked.event);
    },
  };
}

function requestOf({ contract }: Route<Caller>, caller: ToolCaller, asked: Asked) {
  const { params = {}, query = {}, body = {}, signal = new AbortController().signal } = asked;
  const { body: sent } = contract;
  if (sent?.kind === 'json') assertBody(sent.schema, body);
  return {
    params,
    query: checkedQuery(query, queryOf(contract)),
    headers: keyOf(caller, asked),
    body,
    caller: callerOf(caller, asked),
    rawHeaders: [],
    requestId: 'tool',
    signal,
  };
}

const callerOf = ({ tenant, subject, executionId }: ToolCaller, { scopes = [], seesHelpers }: Asked): Caller => ({
  subject,
  tenant,
  kind: 'consumer',
  roles: [],
  scopes,
  ...(executionId === undefined ? {} : { callingExecution: executionId }),
  ...(seesHelpers === undefined ? {} : { seesHelpers }),
  until: Number.POSITIVE_INFINITY,
});

const keyOf = ({ callId }: ToolCaller, { once = false }: Asked): Record<string, string> =>
  once && callId !== undefined ? { 'idempotency-key': callId } : {};

const queryOf = ({ query }: Contract): Readonly<Record<string, TSchema>> => query?.properties ?? {};

/** The value of a tool's argument may have any type; that of a query is text. */
function checkedQuery(query: Readonly<Record<string, unknown>>, properties: Readonly<Record<string, TSchema>>) {
  for (const [name, value] of Object.entries(query)) {
    const schema = properties[name];
    if (schema === undefined || Value.Check(schema, value)) continue;
    throw new AppError('invalid', `${name} ${problemOf(schema, value).message}`, { reason: 'InvalidArguments' });
  }
  return withDefaults({ ...query }, properties);
}

function assertBody(schema: TSchema, body: unknown): void {
  if (Value.Check(schema, body)) return;
  const { instancePath, message } = problemOf(schema, body);
  throw new AppError('invalid', `${instancePath} ${message}`.trim(), { reason: 'InvalidArguments' });
}

function problemOf(schema: TSchema, value: unknown): { readonly instancePath: string; readonly message: string } {
  const [first] = Value.Errors(schema, value);
  return first ?? { instancePath: '', message: 'is not as described' };
}

/** A value that no route has reserved for, such as a record of the archive, is counted here. */
async function valueOf(reply: Reply, part: RoomPart, onEvent: Asked['event']): Promise<unknown> {
  if (reply.kind === 'json') return weighed(reply.value, part);
  if (reply.kind === 'events') return lastOf(reply.events, onEvent);
  if (reply.kind === 'text') {
    if (reply.mediaType !== 'application/json') return reply.text;
    await part.reserveFor(() => jsonCost(reply.text));
    return JSON.parse(reply.text);
  }
  if (reply.kind === 'stream') return wholeOf(reply, part);
  throw new HttpError({ code: 'internal', message: 'the operation answers with no value' });
}

async function weighed(value: unknown, part: RoomPart): Promise<unknown> {
  await part.reserveFor(() => heapBytes(value, weighedBytes));
  return value;
}

async function wholeOf({ stream, whole }: Extract<Reply, { kind: 'stream' }>, part: RoomPart): Promise<unknown> {
  if (whole === undefined) return textOf(stream);
  stream.destroy();
  return weighed(await whole(), part);
}

/** Weighing ends here: nothing counts as more. */
const weighedBytes = 64 * 1024 * 1024;

/** Bytes of a stream that a tool reads; a model reads no more. */
const streamBytes = 524_288;

/** The beginning of a stream as text, and whether more follows. */
async function textOf(stream: Readable): Promise<{ readonly text: string; readonly truncated: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const piece = Buffer.from(chunk as Uint8Array);
    chunks.push(piece.subarray(0, streamBytes - bytes));
    bytes += piece.length;
    if (bytes > streamBytes) break;
  }
  return { text: Buffer.concat(chunks).toString(), truncated: bytes > streamBytes };
}

/** The data of the last event. */
async function lastOf(
  events: Extract<Reply, { kind: 'events' }>['events'],
  onEvent: Asked['event'] = () => undefined,
): Promise<unknown> {
  let last: unknown;
  for await (const event of events) {
    if (event instanceof Uint8Array) continue;
    last = event.data;
    onEvent(event.event ?? 'message', event.data);
  }
  return last;
}
