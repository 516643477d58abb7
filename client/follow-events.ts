import { chunksOf } from './byte-stream.ts';
import { WindlassConnectionError } from './api-error.ts';
import { createEventStreamParser } from './event-stream.ts';
import type { CallOptions, Operation, OperationRequest, ServerEvent } from './operation.ts';
import { backoff } from './retry.ts';
import { isPassing, isRepeatable, parseJson, type Transport } from './transport.ts';

/** Three keep-alive comments that did not come. */
const silenceMs = 45_000;

/** A call that is answered by a stream of events. */
interface StreamCall {
  readonly operation: Operation;
  readonly request: OperationRequest;
  readonly options: CallOptions;
}

/**
 * Every event of a stream once and in order, over as many connections as it takes: each continues after the last event
 * that was seen. Ends after a terminal event, and where the server says that nothing follows (204). Throws when the
 * first connection fails, when a later one is refused, when a call that may not be repeated loses its connection, and the signal's reason when it aborts.
 */
export async function* followEvents(
  transport: Transport,
  call: StreamCall,
): AsyncGenerator<ServerEvent<unknown>, void> {
  const { sleep, random } = transport.options;
  const place = new Place(call.request['lastEventId']);
  while (!(yield* oneConnection(transport, call, place))) {
    place.fruitless += 1;
    await sleep(Math.max(place.retryMs, backoff(place.fruitless, random())), call.options.signal);
    call.options.signal?.throwIfAborted();
  }
}

/** The events of one connection; returns true where nothing can follow it. */
async function* oneConnection(
  transport: Transport,
  { operation, request, options }: StreamCall,
  place: Place,
): AsyncGenerator<ServerEvent<unknown>, boolean> {
  try {
    const { response } = await transport.send(operation, { ...request, lastEventId: place.lastEventId }, options);
    options.onHeaders?.(response.headers);
    if (response.status === 204) return true;
    for await (const event of place.read(response, transport, options)) {
      yield event;
      if (isTerminal(operation, event)) return true;
    }
  } catch (error) {
    if (!place.opened || !isPassing(error) || !isRepeatable(operation, request)) throw error;
  }
  if (!isRepeatable(operation, request)) throw new WindlassConnectionError('the stream broke off before its end');
  return false;
}

/** Where in the stream its reader is. */
class Place {
  lastEventId: string | undefined;
  /** The wait that the server asks for before another connection. */
  retryMs = 0;
  /** Whether the server has ever answered with events. */
  opened = false;
  /** Connections in a row that brought no event. */
  fruitless = 0;

  constructor(lastEventId: unknown) {
    this.lastEventId = typeof lastEventId === 'string' ? lastEventId : undefined;
  }

  async *read(
    response: Response,
    { options }: Transport,
    { signal }: CallOptions,
  ): AsyncGenerator<ServerEvent<unknown>, void> {
    this.opened = true;
    const parser = createEventStreamParser(this.lastEventId);
    for await (const chunk of chunksOf(response, { signal, silence: { ms: silenceMs, sleep: options.sleep } })) {
      for (const { id, event, data } of parser.push(chunk)) {
        this.lastEventId = id;
        this.fruitless = 0;
        yield { id, event, data: parseJson(data, response.url) };
      }
      this.retryMs = parser.retryMs ?? this.retryMs;
    }
  }
}

/** By the event's name, by the one key of its data, which is the event's type, or by the field that holds the type. */
function isTerminal({ lastEvents = [] }: Operation, { event, data }: ServerEvent<unknown>): boolean {
  const fields = typeof data === 'object' && data !== null ? data : {};
  const keys = Object.keys(fields);
  const types = 'type' in fields && typeof fields.type === 'string' ? [fields.type] : [];
  return [event, ...(keys.length === 1 ? keys : types)].some((name) => lastEvents.includes(name));
}
