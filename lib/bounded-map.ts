/** A Map of at most `capacity` keys: one more drops the one that was set longest ago. Reading a key does not keep it. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #capacity: number;

  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }

  /** A key that is set again is the youngest. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#capacity) {
      const [oldest] = this.keys();
      this.delete(oldest as Key);
    }
    return this;
  }
}
