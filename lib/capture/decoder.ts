import { CaptureError } from './capture-error.ts';
import type { StreamName } from './captured-streams.ts';
import { parseTrailer } from './parse-trailer.ts';
import { type Trailer, trailerBytes } from './trailer.ts';

/**
 * The content of a piece of log. Bytes of one stream come in order, and belong to the receiver. `trailer` and
 * `malformed` (a line that no runner writes) come at most once, and nothing comes after them.
 */
export type LogEvent =
  | { readonly kind: 'output'; readonly stream: StreamName; readonly bytes: Uint8Array }
  | { readonly kind: 'trailer'; readonly trailer: Trailer }
  | { readonly kind: 'malformed'; readonly error: CaptureError };

/** Separates a runner's log into its two streams and the trailer, as it arrives. */
interface Decoder {
  /**
   * Takes the next bytes of the log, cut anywhere. Bytes after the trailer are ignored: everything before it is covered
   * by its hashes, and nothing after it was written by the runner.
   */
  push(chunk: Uint8Array): LogEvent[];
}

/** The bytes of the protocol (runner/README.md). */
const [lineFeed, carriageReturn, record, stderrMark, escape] = [0x0a, 0x0d, 0x1d, 0x1e, 0x1f];
const brace = 0x7b;

/** The place of the next byte in a line. */
type Place = 'line start' | 'record' | 'text' | 'fragment' | 'escaped' | 'trailer' | 'end';

/** The second byte of an escape, as the index → the byte that it encodes. */
const unescaped: readonly (number | undefined)[] = Array.from({ length: 256 }, (_, second) => {
  if (second === stderrMark) return lineFeed;
  if (second === record) return carriageReturn;
  return second === escape ? escape : undefined;
});

/** A decoder between two bytes. */
interface State {
  place: Place;
  stream: StreamName;
  readonly trailer: number[];
}

/**
 * Holds no more than the trailer (4 KiB) between calls. The log must be the raw bytes of the log API, without timestamps:
 * a client that turns them into text has already lost invalid UTF-8.
 */
export function createDecoder(): Decoder {
  const state: State = { place: 'line start', stream: 'stdout', trailer: [] };
  return {
    push(chunk) {
      const out = createOutput(chunk.length + 1);
      try {
        for (let at = 0; at < chunk.length; ) at = steps[state.place](state, chunk, at, out);
      } catch (error) {
        if (!(error instanceof CaptureError)) throw error;
        state.place = 'end';
        out.end({ kind: 'malformed', error });
      }
      return out.events();
    },
  };
}

/**
 * Takes what one place of a line can take from `at` on; returns where to continue. Each byte is looked at twice at
 * most.
 */
type Step = (state: State, chunk: Uint8Array, at: number, out: Output) => number;

const steps: Readonly<Record<Place, Step>> = {
  'line start': beginLine,
  record: beginRecord,
  text: takeText,
  fragment: takeFragment,
  escaped: takeEscaped,
  trailer: takeTrailer,
  end: (_state, chunk) => chunk.length,
};

function beginLine(state: State, chunk: Uint8Array, at: number): number {
  const first = chunk[at];
  state.place = first === record ? 'record' : 'text';
  state.stream = first === stderrMark ? 'stderr' : 'stdout';
  return first === record || first === stderrMark || first === escape ? at + 1 : at;
}

function beginRecord(state: State, chunk: Uint8Array, at: number): number {
  const kind = chunk[at];
  if (kind === brace) {
    state.place = 'trailer';
    return at;
  }
  if (kind !== escape && kind !== stderrMark) throw malformed('a record of an unknown kind');
  state.stream = kind === stderrMark ? 'stderr' : 'stdout';
  state.place = 'fragment';
  return at + 1;
}

function takeText(state: State, chunk: Uint8Array, at: number, out: Output): number {
  const end = chunk.indexOf(lineFeed, at);
  if (end >= 0) state.place = 'line start';
  const next = end < 0 ? chunk.length : end + 1;
  out.add(state.stream, chunk.subarray(at, next));
  return next;
}

function takeFragment(state: State, chunk: Uint8Array, at: number, out: Output): number {
  let next = at;
  while (next < chunk.length && chunk[next] !== escape && chunk[next] !== lineFeed) next += 1;
  if (next > at) out.add(state.stream, chunk.subarray(at, next));
  if (next === chunk.length) return next;
  state.place = chunk[next] === escape ? 'escaped' : 'line start';
  return next + 1;
}

function takeEscaped(state: State, chunk: Uint8Array, at: number, out: Output): number {
  const byte = unescaped[chunk[at] ?? 0];
  if (byte === undefined) throw malformed('an unknown escape in a fragment');
  out.put(state.stream, byte);
  state.place = 'fragment';
  return at + 1;
}

function takeTrailer(state: State, chunk: Uint8Array, at: number, out: Output): number {
  const end = chunk.indexOf(lineFeed, at);
  const next = end < 0 ? chunk.length : end;
  if (state.trailer.length + next - at > trailerBytes) throw malformed(`a trailer longer than ${trailerBytes} bytes`);
  state.trailer.push(...chunk.subarray(at, next));
  if (end < 0) return next;
  state.place = 'end';
  out.end({ kind: 'trailer', trailer: parseTrailer(new TextDecoder().decode(Uint8Array.from(state.trailer))) });
  return chunk.length;
}

const malformed = (what: string): CaptureError => new CaptureError('MalformedLog', `the log holds ${what}`);

interface Output {
  add(stream: StreamName, bytes: Uint8Array): void;
  put(stream: StreamName, byte: number): void;
  end(event: LogEvent): void;
  events(): LogEvent[];
}

/** Joins the neighbouring bytes of a stream into one event. Decoded output is never longer than its log. */
function createOutput(capacity: number): Output {
  const buffer = new Uint8Array(capacity);
  const events: LogEvent[] = [];
  let stream: StreamName = 'stdout';
  let [begin, length] = [0, 0];
  const turnTo = (next: StreamName): void => {
    if (next !== stream) close();
    stream = next;
  };
  const close = (): void => {
    if (length > begin) events.push({ kind: 'output', stream, bytes: buffer.subarray(begin, length) });
    begin = length;
  };
  return {
    add(next, bytes) {
      turnTo(next);
      buffer.set(bytes, length);
      length += bytes.length;
    },
    put(next, byte) {
      turnTo(next);
      buffer[length] = byte;
      length += 1;
    },
    end(event) {
      close();
      events.push(event);
    },
    events() {
      close();
      return events;
    },
  };
}
