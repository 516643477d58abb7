import { mayHold } from '../../lib/fair-pool.ts';
import { refOfKey } from '../../lib/kube/index.ts';
import { createFifo, type Fifo } from './fifo.ts';

/** A key that may be worked on since a time, in clock milliseconds. */
interface ReadyKey {
  readonly key: string;
  readonly since: number;
}

/**
 * Ready keys, and whose turn it is (ADR 0030). The next key is one of the namespace with the fewest keys under way, and
 * among those with equally many of the one that has waited longest for its turn; within a namespace first come, first
 * served. So a namespace with one key is served before another one gets its second, however many keys that has, and
 * namespaces whose keys take long hold no more workers than the others while those have work.
 */
export interface Turns {
  /** A key that is neither ready nor under way. */
  push(ready: ReadyKey): void;
  /** Takes the next key; it is under way until `end`. Undefined when none is ready, or none may begin. */
  next(): ReadyKey | undefined;
  end(key: string): void;
  /** Forgets what is ready. */
  clear(): void;
  /** Ready keys. */
  readonly size: number;
  /** Since when the oldest ready key waits. */
  readonly oldest: number | undefined;
}

/** `workers`: keys that may be under way at once, of which no namespace has the last (`mayHold`). */
export function createTurns(workers: number): Turns {
  return new NamespaceTurns(workers);
}

/** The keys of one namespace. */
interface Lane {
  readonly namespace: string;
  readonly ready: Fifo<ReadyKey>;
  underWay: number;
}

class NamespaceTurns implements Turns {
  readonly #workers: number;
  /** Every namespace with a key that is ready or under way. */
  readonly #lanes = new Map<string, Lane>();
  /** Those with ready keys and none under way, in turn. */
  #resting = createFifo<Lane>();
  /** Those with ready keys and some under way, in turn: no more than there are workers. */
  readonly #running = new Set<Lane>();
  #size = 0;
  #underWay = 0;

  constructor(workers: number) {
    this.#workers = workers;
  }

  get size(): number {
    return this.#size;
  }

  get oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { ready } of this.#lanes.values()) {
      if (ready.first !== undefined) oldest = Math.min(oldest ?? ready.first.since, ready.first.since);
    }
    return oldest;
  }

  push(ready: ReadyKey): void {
    const lane = this.#laneOf(ready.key);
    const isNew = lane.ready.first === undefined;
    lane.ready.push(ready);
    this.#size += 1;
    if (isNew) this.#queueUp(lane);
  }

  next(): ReadyKey | undefined {
    if (this.#underWay >= this.#workers) return undefined;
    const lane = this.#resting.shift() ?? this.#leastRunning();
    const taken = lane?.ready.shift();
    if (lane === undefined || taken === undefined) return undefined;
    this.#size -= 1;
    this.#running.delete(lane);
    lane.underWay += 1;
    this.#underWay += 1;
    if (lane.ready.first !== undefined) this.#queueUp(lane);
    return taken;
  }

  end(key: string): void {
    const lane = this.#laneOf(key);
    lane.underWay -= 1;
    this.#underWay -= 1;
    if (lane.underWay > 0) return;
    if (this.#running.delete(lane)) this.#resting.push(lane);
    else this.#lanes.delete(lane.namespace);
  }

  clear(): void {
    this.#resting = createFifo();
    this.#running.clear();
    this.#size = 0;
    for (const { namespace, underWay } of this.#lanes.values()) {
      if (underWay === 0) this.#lanes.delete(namespace);
      else this.#lanes.set(namespace, { namespace, ready: createFifo(), underWay });
    }
  }

  #queueUp(lane: Lane): void {
    if (lane.underWay === 0) this.#resting.push(lane);
    else this.#running.add(lane);
  }

  #leastRunning(): Lane | undefined {
    let least: Lane | undefined;
    for (const lane of this.#running) if (least === undefined || lane.underWay < least.underWay) least = lane;
    return least !== undefined && mayHold(least.underWay, this.#workers - this.#underWay) ? least : undefined;
  }

  #laneOf(key: string): Lane {
    const { namespace = '' } = refOfKey(key);
    const known = this.#lanes.get(namespace);
    if (known !== undefined) return known;
    const lane = { namespace, ready: createFifo<ReadyKey>(), underWay: 0 };
    this.#lanes.set(namespace, lane);
    return lane;
  }
}
