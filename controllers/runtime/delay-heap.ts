import type { Clock } from '../../lib/clock.ts';

interface Item {
  readonly key: string;
  readonly at: number;
}

/** Keys that become due at a time, held by one sleep however many they are. */
export interface DelayHeap {
  /** Due at `at` (milliseconds of the steady clock), unless the key is due earlier already. */
  set(key: string, at: number): void;
  clear(): void;
}

/** Longest sleep: timers of the platform count milliseconds in 31 bits. */
const longestSleepMs = 2 ** 31 - 1;

/** `onDue` is called once for each due key, in order of their times. */
export function createDelayHeap(clock: Clock, onDue: (key: string) => void): DelayHeap {
  return new SleepingHeap(clock, onDue);
}

class SleepingHeap implements DelayHeap {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #due = new Map<string, number>();
  /** Binary heap by time. An item whose time is no longer that of `#due` was replaced by an earlier one: skip it. */
  readonly #heap: Item[] = [];
  #sleep: { readonly until: number; readonly stop: AbortController } | undefined;

  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  set(key: string, at: number): void {
    const known = this.#due.get(key);
    if (known !== undefined && known <= at) return;
    this.#due.set(key, at);
    push(this.#heap, { key, at });
    this.#arm();
  }

  clear(): void {
    this.#sleep?.stop.abort();
    this.#sleep = undefined;
    this.#heap.length = 0;
    this.#due.clear();
  }

  #arm(): void {
    const next = this.#heap[0];
    if (next === undefined || (this.#sleep !== undefined && this.#sleep.until <= next.at)) return;
    this.#sleep?.stop.abort();
    const stop = new AbortController();
    this.#sleep = { until: next.at, stop };
    const ms = Math.min(longestSleepMs, Math.max(0, Math.ceil(next.at - this.#clock.steadyMs())));
    void this.#clock.sleep(ms, stop.signal).then(() => (stop.signal.aborted ? undefined : this.#fire()));
  }

  #fire(): void {
    this.#sleep = undefined;
    const now = this.#clock.steadyMs();
    for (let next = this.#heap[0]; next !== undefined && next.at <= now; next = this.#heap[0]) {
      pop(this.#heap);
      if (this.#due.get(next.key) !== next.at) continue;
      this.#due.delete(next.key);
      this.#onDue(next.key);
    }
    this.#arm();
  }
}

function push(heap: Item[], item: Item): void {
  let hole = heap.length;
  heap.push(item);
  while (hole > 0) {
    const parent = (hole - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || above.at <= item.at) break;
    heap[hole] = above;
    hole = parent;
  }
  heap[hole] = item;
}

function pop(heap: Item[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let hole = 0;
  for (;;) {
    const child = smallerChild(heap, hole);
    const below = heap[child];
    if (below === undefined || below.at >= last.at) break;
    heap[hole] = below;
    hole = child;
  }
  heap[hole] = last;
}

function smallerChild(heap: readonly Item[], parent: number): number {
  const left = 2 * parent + 1;
  const [a, b] = [heap[left], heap[left + 1]];
  return a !== undefined && b !== undefined && b.at < a.at ? left + 1 : left;
}
