/** The newest entries by key, where the tenant that has most of them makes room for others. */
interface FairEntries<V> {
  get(key: string): V | undefined;
  set(tenant: string, key: string, value: V): void;
  delete(key: string): void;
  clear(): void;
  readonly size: number;
}

/** At most `max` entries: beyond them the oldest one of the tenant with the most entries is dropped. */
export function createFairEntries<V>(max: number): FairEntries<V> {
  return new SharedEntries(max);
}

class SharedEntries<V> implements FairEntries<V> {
  readonly #max: number;
  readonly #values = new Map<string, { readonly tenant: string; readonly value: V }>();
  /** Keys of each tenant, the oldest first. */
  readonly #keys = new Map<string, Set<string>>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): V | undefined {
    return this.#values.get(key)?.value;
  }

  set(tenant: string, key: string, value: V): void {
    this.delete(key);
    this.#values.set(key, { tenant, value });
    const keys = this.#keys.get(tenant) ?? new Set();
    this.#keys.set(tenant, keys.add(key));
    if (this.#values.size > this.#max) this.#makeRoom();
  }

  delete(key: string): void {
    const tenant = this.#values.get(key)?.tenant;
    if (tenant === undefined) return;
    this.#values.delete(key);
    const keys = this.#keys.get(tenant);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(tenant);
  }

  clear(): void {
    this.#values.clear();
    this.#keys.clear();
  }

  #makeRoom(): void {
    let most: ReadonlySet<string> = new Set();
    for (const keys of this.#keys.values()) if (keys.size > most.size) most = keys;
    const [oldest = ''] = most;
    this.delete(oldest);
  }
}
