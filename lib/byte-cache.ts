/** Values that were used last, as many as fit a budget of bytes. Nothing but speed can be observed of it. */
export interface ByteCache<Value> {
  get(key: string): Value | undefined;
  /** Takes the place of what the key had. What is larger than a quarter of the budget is not kept. */
  set(key: string, value: Value, bytes: number): void;
  delete(key: string): void;
  /** Of all values together. */
  readonly bytes: number;
}

/** One value must not push out all the others. */
const largestPart = 1 / 4;

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** Changed in place: taking the entry out and in again would leave an old table behind every few reads (ADR 0029). */
  wasUsed: boolean;
}

/** `budget` in bytes. */
export function createByteCache<Value>(budget: number): ByteCache<Value> {
  const entries = new Map<string, Entry<Value>>();
  let total = 0;
  const drop = (key: string): void => {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  const put = (key: string, entry: Entry<Value>): void => {
    drop(key);
    entries.set(key, entry);
    total += entry.bytes;
  };
  /** The oldest goes, unless it was used since: then it is the youngest again. */
  const makeRoom = (bytes: number): void => {
    for (const [key, entry] of entries) {
      if (total + bytes <= budget) return;
      drop(key);
      if (entry.wasUsed) put(key, { ...entry, wasUsed: false });
    }
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry !== undefined) entry.wasUsed = true;
      return entry?.value;
    },
    set(key, value, bytes) {
      drop(key);
      if (bytes > budget * largestPart) return;
      makeRoom(bytes);
      put(key, { value, bytes, wasUsed: false });
    },
    delete: drop,
    get bytes() {
      return total;
    },
  };
}
