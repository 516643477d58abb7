import { mayHold } from '../../lib/fair-pool.ts';
import { refOfKey } from '../../lib/kube/index.ts';
import { createFifo, type Fifo } from './fifo.ts';

/** A key that may be worked on since a time, in milliseconds of the steady clock. */
interface ReadyKey {
  readonly key: string;
  readonly since: number;
}

/**
 * Ready keys, and whose turn it is (ADR 0030). The next key is one of the namespace with the fewest keys under way.
 * Among namespaces with equally many, it is one of that which has waited longest for its turn. Within a namespace it is
 * first come, first served. So a namespace with one key is served before another one gets its second, however many keys
 * that has. Namespaces whose keys take long hold no more workers than the others while those have work.
 */
export interface NamespaceQueues {
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
export function createNamespaceQueues(workers: number): NamespaceQueues {
  return new FairQueues(workers);
}

/** The keys of one namespace. */
interface NamespaceQueue {
  readonly namespace: string;
  readonly ready: Fifo<ReadyKey>;
  underWay: number;
}

class FairQueues implements NamespaceQueues {
  readonly #workers: number;
  /** Every namespace with a key that is ready or under way. */
  readonly #queues = new Map<string, NamespaceQueue>();
  /** Those with ready keys and none under way, in turn. */
  #resting = createFifo<NamespaceQueue>();
  /** Those with ready keys and some under way, in turn: no more than there are workers. */
  readonly #running = new Set<NamespaceQueue>();
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
    for (const { ready } of this.#queues.values()) {
      if (ready.first !== undefined) oldest = Math.min(oldest ?? ready.first.since, ready.first.since);
    }
    return oldest;
  }

  push(ready: ReadyKey): void {
    const queue = this.#queueOf(ready.key);
    const isNew = queue.ready.first === undefined;
    queue.ready.push(ready);
    this.#size += 1;
    if (isNew) this.#queueUp(queue);
  }

  next(): ReadyKey | undefined {
    if (this.#underWay >= this.#workers) return undefined;
    const queue = this.#resting.shift() ?? this.#leastRunning();
    const taken = queue?.ready.shift();
    if (queue === undefined || taken === undefined) return undefined;
    this.#size -= 1;
    this.#running.delete(queue);
    queue.underWay += 1;
    this.#underWay += 1;
    if (queue.ready.first !== undefined) this.#queueUp(queue);
    return taken;
  }

  end(key: string): void {
    const queue = this.#queueOf(key);
    queue.underWay -= 1;
    this.#underWay -= 1;
    if (queue.underWay > 0) return;
    if (this.#running.delete(queue)) this.#resting.push(queue);
    else this.#queues.delete(queue.namespace);
  }

  clear(): void {
    this.#resting = createFifo();
    this.#running.clear();
    this.#size = 0;
    for (const { namespace, underWay } of this.#queues.values()) {
      if (underWay === 0) this.#queues.delete(namespace);
      else this.#queues.set(namespace, { namespace, ready: createFifo(), underWay });
    }
  }

  #queueUp(queue: NamespaceQueue): void {
    if (queue.underWay === 0) this.#resting.push(queue);
    else this.#running.add(queue);
  }

  #leastRunning(): NamespaceQueue | undefined {
    let least: NamespaceQueue | undefined;
    for (const queue of this.#running) if (least === undefined || queue.underWay < least.underWay) least = queue;
    return least !== undefined && mayHold(least.underWay, this.#workers - this.#underWay) ? least : undefined;
  }

  #queueOf(key: string): NamespaceQueue {
    const { namespace = '' } = refOfKey(key);
    const known = this.#queues.get(namespace);
    if (known !== undefined) return known;
    const queue = { namespace, ready: createFifo<ReadyKey>(), underWay: 0 };
    this.#queues.set(namespace, queue);
    return queue;
  }
}
