import type { Clock } from '../../lib/clock.ts';
import { isQuotaExceeded, KubeError, refOfKey } from '../../lib/kube/index.ts';
import { createDelayHeap, type DelayHeap } from '../runtime/delay-heap.ts';

/** An object that an execution wants. */
interface Wish {
  readonly namespace: string;
  /** Plural name of the kind. */
  readonly resource: string;
  /** `namespace/name` of the execution. */
  readonly key: string;
}

/**
 * Creates that a ResourceQuota may refuse. Once one was refused, the executions of the namespace that want an object of
 * that kind wait in line (ADR 0043). One of them at a time asks again: less than once a second while the answer is no,
 * and at once after each yes.
 */
export interface QuotaGate {
  /**
   * Makes an object, or puts the execution in the line, which wakes it when its turn comes.
   * @throws KubeError of `make`, or the last refusal where it is not the execution's turn
   */
  create<R>(wish: Wish, make: () => Promise<R>): Promise<R>;
  /** Something has ended in the namespace, so there may be room. */
  freed(namespace: string): void;
  /** The execution wants nothing any more, or no object of one kind, by its plural name. */
  leave(key: string, resource?: string): void;
}

/** Times in milliseconds. */
const gateTiming = {
  /** Least time between two refusals: less than one a second, with all that the clocks of two machines differ. */
  pauseMs: 1_250,
  /** Most time between two tries: an operator may have raised the quota, or another owner's pod may have ended. */
  pauseMostMs: 10_000,
  /** The server counts what has ended a moment after the watch tells of it. */
  countedMs: 200,
  /** An execution that has not asked within this time of its turn is passed over, and comes last when it asks again. */
  turnMs: 30_000,
} as const;

/** One who was refused twice as the first in line lets the others go before: they may want less. */
const triesAsFirst = 2;

interface Line {
  /** `namespace/resource`. */
  readonly id: string;
  readonly namespace: string;
  refusal: KubeError;
  /** Executions in order, each with the tries that it had as the first. */
  readonly waiting: Map<string, number>;
  /** Whose turn it is. */
  turn: string | undefined;
  /** It asks just now. */
  isAsking: boolean;
  /** It wants further objects. */
  wantsMore: boolean;
  pauseMs: number;
  refusedAt: number;
  /** When the next turn comes, in milliseconds of the steady clock, as the heap counts. */
  dueAt: number;
}

export function createQuotaGate(clock: Clock, wake: (key: string) => void): QuotaGate {
  return new Lines(clock, wake);
}

class Lines implements QuotaGate {
  readonly #clock: Clock;
  readonly #wake: (key: string) => void;
  /** By namespace and then by id; none while nothing was refused. */
  readonly #lines = new Map<string, Map<string, Line>>();
  readonly #due: DelayHeap;

  constructor(clock: Clock, wake: (key: string) => void) {
    this.#clock = clock;
    this.#wake = wake;
    this.#due = createDelayHeap(clock, (id) => this.#onDue(id));
  }

  async create<R>(wish: Wish, make: () => Promise<R>): Promise<R> {
    const line = this.#lines.get(wish.namespace)?.get(idOf(wish));
    if (line === undefined) return this.#unasked(wish, make);
    if (line.turn !== wish.key || line.isAsking) {
      if (line.turn === wish.key) line.wantsMore = true;
      if (!line.waiting.has(wish.key)) line.waiting.set(wish.key, 0);
      throw line.refusal;
    }
    line.isAsking = true;
    const asked = make().finally(() => {
      line.isAsking = false;
    });
    try {
      const made = await asked;
      this.#granted(line, wish.key);
      return made;
    } catch (error) {
      if (isQuotaExceeded(error)) this.#refused(line, wish, error);
      else this.#pause(line, gateTiming.pauseMs);
      throw error;
    }
  }

  freed(namespace: string): void {
    for (const line of this.#lines.get(namespace)?.values() ?? []) {
      line.pauseMs = gateTiming.pauseMs;
      if (line.turn !== undefined) continue;
      const at = Math.max(line.refusedAt + gateTiming.pauseMs, this.#clock.steadyMs() + gateTiming.countedMs);
      // Frequent ends must not put the turn off.
      if (at < line.dueAt) this.#dueAt(line, at);
    }
  }

  leave(key: string, resource?: string): void {
    const { namespace = '' } = refOfKey(key);
    for (const line of this.#lines.get(namespace)?.values() ?? []) {
      if (resource !== undefined && line.id !== idOf({ namespace, resource })) continue;
      if (!line.waiting.delete(key)) continue;
      if (line.turn === key) this.#next(line);
      else if (line.waiting.size === 0) this.#close(line);
    }
  }

  /** Nothing was refused before. */
  async #unasked<R>(wish: Wish, make: () => Promise<R>): Promise<R> {
    try {
      return await make();
    } catch (error) {
      if (!isQuotaExceeded(error)) throw error;
      const known = this.#lines.get(wish.namespace)?.get(idOf(wish));
      if (known === undefined) this.#open(wish, error);
      else if (!known.waiting.has(wish.key)) known.waiting.set(wish.key, 0);
      throw error;
    }
  }

  #open(wish: Wish, error: KubeError): void {
    const { namespace, resource, key } = wish;
    const now = this.#clock.steadyMs();
    const { pauseMs } = gateTiming;
    const line: Line = {
      id: idOf(wish),
      namespace,
      refusal: inLine(error, resource),
      waiting: new Map([[key, 0]]),
      turn: undefined,
      isAsking: false,
      wantsMore: false,
      pauseMs,
      refusedAt: now,
      dueAt: now,
    };
    const lines = this.#lines.get(namespace) ?? new Map<string, Line>();
    this.#lines.set(namespace, lines.set(line.id, line));
    this.#pause(line, pauseMs);
  }

  #granted(line: Line, key: string): void {
    line.pauseMs = gateTiming.pauseMs;
    if (line.wantsMore) line.waiting.set(key, 0);
    else line.waiting.delete(key);
    this.#next(line);
  }

  #refused(line: Line, { resource, key }: Wish, error: KubeError): void {
    line.refusal = inLine(error, resource);
    line.refusedAt = this.#clock.steadyMs();
    const tries = (line.waiting.get(key) ?? 0) + 1;
    if (tries >= triesAsFirst) line.waiting.delete(key);
    line.waiting.set(key, tries % triesAsFirst);
    this.#pause(line, line.pauseMs);
    line.pauseMs = Math.min(line.pauseMs * 2, gateTiming.pauseMostMs);
  }

  #pause(line: Line, ms: number): void {
    line.turn = undefined;
    this.#dueAt(line, this.#clock.steadyMs() + ms);
  }

  #dueAt(line: Line, at: number): void {
    line.dueAt = at;
    this.#due.set(line.id, at);
  }

  #onDue(id: string): void {
    const line = this.#lines.get(id.slice(0, id.indexOf('/')))?.get(id);
    if (line === undefined) return;
    const now = this.#clock.steadyMs();
    // The heap keeps the earliest of several times.
    if (now < line.dueAt) return this.#due.set(id, line.dueAt);
    if (line.isAsking) return this.#dueAt(line, now + gateTiming.turnMs);
    if (line.turn !== undefined) line.waiting.delete(line.turn);
    this.#next(line);
  }

  /** Gives the turn to the first in line; without any, everybody may ask again. */
  #next(line: Line): void {
    const [first] = line.waiting.keys();
    line.turn = first;
    line.wantsMore = false;
    if (first === undefined) return this.#close(line);
    this.#dueAt(line, this.#clock.steadyMs() + gateTiming.turnMs);
    this.#wake(first);
  }

  #close({ id, namespace }: Line): void {
    const lines = this.#lines.get(namespace);
    lines?.delete(id);
    if (lines?.size === 0) this.#lines.delete(namespace);
  }
}

const idOf = ({ namespace, resource }: Omit<Wish, 'key'>): string => `${namespace}/${resource}`;

/** The refusal as it holds for all in line: the server names the object of the one who asked. */
function inLine({ status, reason, serverMessage }: KubeError, resource: string): KubeError {
  const message = serverMessage.slice(serverMessage.indexOf('exceeded quota'));
  return new KubeError(status, { message, reason }, { verb: 'create', resource });
}
