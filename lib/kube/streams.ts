import { AppError, messageOf } from '../errors.ts';
import type { LogOptions, WatchEvent, WatchOptions } from './client.ts';
import { lineBytes, parseLine, readJsonLines } from './json-lines.ts';
import type { KubeObject, ObjectRef } from './objects.ts';
import { peekChanged } from './peek-event.ts';
import { pathOf, pods, type Resource } from './resource.ts';
import type { Transport } from './transport.ts';

interface Watched {
  readonly resource: Resource;
  readonly label: string;
}

/** See `ListWatchPort.watch`. */
export async function* readWatchStream<T extends KubeObject>(
  transport: Transport,
  { resource, label }: Watched,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { signal, namespace, isKnown, ...query } = options;
  if (signal?.aborted) return;
  try {
    const body = await transport.open({
      verb: 'watch',
      resource: label,
      object: namespace,
      method: 'GET',
      path: pathOf(resource, { namespace }),
      query: { ...query, watch: true },
      signal,
    });
    const read = (line: Buffer): WatchEvent<T> | undefined => readEvent<T>(line, label, isKnown);
    for await (const event of readJsonLines(body, lineBytes, read)) yield event as WatchEvent<T>;
  } catch (error) {
    if (!signal?.aborted) throw asBroken(error, `watch ${label}`);
  }
}

/** See `KubeClient.readLog`. */
export async function* readLogStream(
  transport: Transport,
  ref: ObjectRef,
  options: LogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signal, timeoutMs, ...query } = options;
  if (signal?.aborted) return;
  const call = { verb: 'get', resource: 'pods/log', object: `${ref.namespace ?? ''}/${ref.name}` };
  try {
    const path = pathOf(pods, ref, 'log');
    const body = await transport.open({ ...call, method: 'GET', path, query, signal, timeoutMs });
    for await (const chunk of body) yield chunk as Uint8Array;
  } catch (error) {
    if (!signal?.aborted) throw asBroken(error, `get pods/log ${call.object}`);
  }
}

const eventTypes: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

/** The event of a line; undefined for a blank one. */
function readEvent<T extends KubeObject>(
  line: Buffer,
  label: string,
  isKnown: WatchOptions['isKnown'],
): WatchEvent<T> | undefined {
  const peeked = isKnown === undefined ? undefined : peekChanged(line);
  if (peeked !== undefined && isKnown?.(peeked) === true) return { type: 'KNOWN', object: peeked as T };
  const value = parseLine(line);
  return value === undefined ? undefined : asEvent<T>(value, label);
}

function asEvent<T extends KubeObject>(line: unknown, label: string): WatchEvent<T> {
  const event = line as WatchEvent<T>;
  const known = typeof line === 'object' && line !== null && eventTypes.has(event.type);
  if (known && typeof event.object === 'object' && event.object !== null) return event;
  throw new AppError('unavailable', `watch ${label}: a line is not an event`, { reason: 'Garbled' });
}

function asBroken(error: unknown, what: string): AppError {
  if (error instanceof AppError) return error;
  return new AppError('unavailable', `${what}: ${messageOf(error)}`, { reason: 'StreamBroken', cause: error });
}
