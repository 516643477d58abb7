/** One event as it came over the line: its data is still text. */
export interface RawEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** The stream's own fields, beside its events. */
interface EventStreamParser {
  /** The events that are complete after this piece of the stream. */
  push(chunk: Uint8Array): RawEvent[];
  /** The id to continue from after a lost connection. */
  readonly lastEventId: string | undefined;
  /** How long the server asks to wait before connecting again. */
  readonly retryMs: number | undefined;
}

/** Reads `text/event-stream` (WHATWG HTML §9.2.6). An event that is cut off by the stream's end is dropped. */
export function createEventStreamParser(lastEventId?: string): EventStreamParser {
  return new Parser(lastEventId);
}

class Parser implements EventStreamParser {
  lastEventId: string | undefined;
  retryMs: number | undefined;
  /** Drops the byte order mark, and holds back a character that is not complete. */
  readonly #decoder = new TextDecoder();
  #rest = '';
  #afterCr = false;
  #event = '';
  #data: string[] = [];

  constructor(lastEventId: string | undefined) {
    this.lastEventId = lastEventId;
  }

  push(chunk: Uint8Array): RawEvent[] {
    const more = this.#decoder.decode(chunk, { stream: true });
    if (more === '') return [];
    // A CR that ended the piece before this one ended its line; an LF now is the rest of that line end.
    const text = this.#afterCr && more.startsWith('\n') ? more.slice(1) : more;
    this.#afterCr = more.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    // A long line comes in many pieces: it is looked through once only, at its end.
    const last = lines.pop() ?? '';
    const events = lines.flatMap((line, index) => this.#take(index === 0 ? this.#rest + line : line));
    this.#rest = lines.length === 0 ? this.#rest + last : last;
    return events;
  }

  #take(line: string): RawEvent[] {
    if (line === '') return this.#complete();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.lastEventId = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return [];
  }

  #complete(): RawEvent[] {
    const event = this.#event || 'message';
    const data = this.#data;
    [this.#event, this.#data] = ['', []];
    return data.length === 0 ? [] : [{ id: this.lastEventId, event, data: data.join('\n') }];
  }
}
