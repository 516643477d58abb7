import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import { encodeEvent } from '../../../../lib/http/index.ts';
import { deletedEvent, eventsBehind, type PlacedEvent } from './events.ts';
import { endPosition, eventId, isBehind, nowhere, type EventPosition } from './position.ts';

/** One client's way to the events of an execution. */
export interface EventChannel {
  /** This version was read on purpose: what had happened until then is known from here on. */
  seen(execution: WorkflowExecution): void;
  /**
   * The events behind `after`, encoded: those there are at once, then what happens, as it happens, up to the one that
   * ends them. May be iterated once; the channel closes with it.
   */
  frames(after: EventPosition): AsyncIterable<Uint8Array>;
  close(): void;
}

/**
 * Tells the clients of an execution what happens to it. Events are worked out once for all clients from whole versions
 * of the object, by their places in its history. A version that comes twice, late or never changes nothing.
 */
interface EventHub {
  /** Takes every version that the watch brings, whole. */
  seen(execution: WorkflowExecution): void;
  /** The object is gone. */
  gone(uid: string): void;
  /** From now on no version of this execution is missed. */
  open(uid: string): EventChannel;
  /** Executions with followers. */
  readonly size: number;
}

export function createEventHub(): EventHub {
  const logs = new Map<string, EventLog>();
  return {
    seen: (execution) => logs.get(execution.metadata.uid ?? '')?.add(execution),
    gone: (uid) => logs.get(uid)?.addDeletion(uid),
    open(uid) {
      const log = logs.get(uid) ?? new EventLog();
      logs.set(uid, log);
      return channelOf(log, () => logs.delete(uid));
    },
    get size() {
      return logs.size;
    },
  };
}

function channelOf(log: EventLog, onUnused: () => void): EventChannel {
  let isOpen = true;
  log.users += 1;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    log.users -= 1;
    if (log.users === 0) onUnused();
  };
  return {
    seen: (execution) => log.add(execution),
    frames: (after) => ({ [Symbol.asyncIterator]: () => new FrameReader(log, after, close) }),
    close,
  };
}

interface Frame {
  readonly position: EventPosition;
  readonly bytes: Uint8Array;
}

/** A client that does not read has no more than this, or one event, ahead of it. */
const joinedBytes = 65_536;

interface Joined {
  readonly index: number;
  /** The first frame behind it. */
  readonly end: number;
  readonly bytes: Uint8Array;
}

/** Encoded events so far, and the clients that wait for more. */
class EventLog {
  readonly frames: Frame[] = [];
  users = 0;
  /** Frames from one index on, joined for the last client that asked: most are at the same place. */
  #joined: Joined | undefined;
  readonly #waiting = new Set<() => void>();

  get last(): EventPosition {
    return this.frames.at(-1)?.position ?? nowhere;
  }

  get hasEnded(): boolean {
    return !isBehind(endPosition, this.last);
  }

  add(execution: WorkflowExecution): void {
    this.#append(eventsBehind(execution, this.last));
  }

  addDeletion(uid: string): void {
    if (!this.hasEnded) this.#append([deletedEvent(uid)]);
  }

  /** The frames from this one on that fit into `joinedBytes`, at least one. */
  joinedFrom(index: number): Joined {
    if (this.#joined?.index === index) return this.#joined;
    const parts: Uint8Array[] = [];
    let room = joinedBytes;
    for (const { bytes } of this.frames.slice(index)) {
      room -= bytes.byteLength;
      if (room < 0 && parts.length > 0) break;
      parts.push(bytes);
    }
    const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    this.#joined = { index, end: index + parts.length, bytes };
    return this.#joined;
  }

  /** Wakes `reader` at the next event. */
  await(reader: () => void): void {
    this.#waiting.add(reader);
  }

  forget(reader: () => void): void {
    this.#waiting.delete(reader);
  }

  #append(events: readonly PlacedEvent[]): void {
    if (events.length === 0) return;
    this.#joined = undefined;
    for (const { position, event } of events) {
      this.frames.push({ position, bytes: encodeEvent({ id: eventId(position), data: event }) });
    }
    const readers = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of readers) wake();
  }
}

/** One client's place in a log. Holds no frames of its own, so that a slow client costs no more than a fast one. */
class FrameReader implements AsyncIterator<Uint8Array> {
  readonly #log: EventLog;
  readonly #after: EventPosition;
  readonly #close: () => void;
  #next = 0;
  #isReleased = false;
  #resolve: ((result: IteratorResult<Uint8Array>) => void) | undefined;

  constructor(log: EventLog, after: EventPosition, close: () => void) {
    this.#log = log;
    this.#after = after;
    this.#close = close;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const result = this.#take();
    if (result !== undefined) return Promise.resolve(result);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#log.await(this.#wake);
    });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#isReleased = true;
    this.#log.forget(this.#wake);
    this.#wake();
    return Promise.resolve(this.#done());
  }

  readonly #wake = (): void => {
    if (this.#resolve === undefined) return;
    const result = this.#take();
    if (result === undefined) return this.#log.await(this.#wake);
    this.#resolve(result);
    this.#resolve = undefined;
  };

  /** Undefined where there is nothing yet. Skips frames that the client has received already. */
  #take(): IteratorResult<Uint8Array> | undefined {
    if (this.#isReleased) return this.#done();
    const { frames, hasEnded } = this.#log;
    const { length } = frames;
    while (this.#next < length && !isBehind(frames[this.#next]?.position ?? nowhere, this.#after)) this.#next += 1;
    if (this.#next === length) return hasEnded ? this.#done() : undefined;
    const { bytes, end } = this.#log.joinedFrom(this.#next);
    this.#next = end;
    return { done: false, value: bytes };
  }

  #done(): IteratorResult<Uint8Array> {
    this.#close();
    return { done: true, value: undefined };
  }
}
