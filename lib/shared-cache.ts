import { LRUCache } from 'lru-cache';

interface SharedCacheBounds<V> {
  /** Bytes of heap for the values of all tenants. */
  readonly maxBytes: number;
  /** Bytes for the values of one tenant. A larger value is not kept. */
  readonly tenantBytes: number;
  /** Bytes of heap of a value. */
  readonly weigh: (value: V, key: string) => number;
}

/** Bounds of a cache of so many bytes: as in a pool, one tenant has four fifths of them at most. */
export const sharesOf = (maxBytes: number) => ({ maxBytes, tenantBytes: Math.floor((maxBytes * 4) / 5) });

/** Bytes of heap of an entry beside its texts: the entry itself, its places in the tables, and a small object. */
const entryBytes = 256;

/** Bytes of heap of an entry with these texts, of which one character may take two bytes. */
export const entryWith = (...texts: readonly string[]): number =>
  texts.reduce((bytes, text) => bytes + 2 * text.length, entryBytes);

/**
 * Values of many tenants, kept while there is room. Those that a tenant used last take the place of its own oldest ones.
 * Beyond the bound of all of them, the oldest of the tenant that holds most leaves first.
 */
interface SharedCache<V> {
  /** Bytes that are held. */
  readonly bytes: number;
  get(tenant: string, key: string): V | undefined;
  set(tenant: string, key: string, value: V): void;
  delete(tenant: string, key: string): void;
}

type Caches<V extends object> = ReadonlyMap<string, LRUCache<string, V>>;

/** The tenant that holds most. */
function largestOf<V extends object>(tenants: Caches<V>): [name: string, cache: LRUCache<string, V>] | undefined {
  const [first, ...rest] = tenants;
  return first && rest.reduce((most, one) => (one[1].calculatedSize > most[1].calculatedSize ? one : most), first);
}

export function createSharedCache<V extends object>(bounds: SharedCacheBounds<V>): SharedCache<V> {
  const { maxBytes, tenantBytes, weigh } = bounds;
  const tenants = new Map<string, LRUCache<string, V>>();
  const held = (): number => [...tenants.values()].reduce((sum, { calculatedSize }) => sum + calculatedSize, 0);
  const cacheOf = (tenant: string): LRUCache<string, V> => {
    const known = tenants.get(tenant);
    if (known !== undefined) return known;
    const made = new LRUCache<string, V>({ maxSize: tenantBytes });
    tenants.set(tenant, made);
    return made;
  };
  const makeRoom = (): void => {
    while (held() > maxBytes) {
      const most = largestOf(tenants);
      if (most === undefined) return;
      const [name, cache] = most;
      cache.pop();
      if (cache.size === 0) tenants.delete(name);
    }
  };
  return {
    get bytes() {
      return held();
    },
    get: (tenant, key) => tenants.get(tenant)?.get(key),
    set(tenant, key, value) {
      const cache = cacheOf(tenant);
      cache.set(key, value, { size: Math.max(1, Math.ceil(weigh(value, key))) });
      if (cache.size === 0) tenants.delete(tenant);
      makeRoom();
    },
    delete(tenant, key) {
      const cache = tenants.get(tenant);
      cache?.delete(key);
      if (cache?.size === 0) tenants.delete(tenant);
    },
  };
}
