import { Gauge, type Registry } from 'prom-client';
import type { FairPool } from '../fair-pool.ts';

type WatchedPool = Pick<FairPool, 'used' | 'size' | 'waiting'>;
type Named = Readonly<Record<string, WatchedPool>>;

/** Pools of a process, by a name for people: those of bytes as `docs/reference/memory.md` says them. */
interface WatchedPools {
  readonly bytes: Named;
  /** Each counts what is under way, one for one. */
  readonly places?: Named;
}

/** Says at each scrape what tenants hold of pools that they share, and how many of them wait. Called once for a process. */
export function watchPools(registry: Registry, { bytes, places = {} }: WatchedPools): void {
  const gauge = (name: string, help: string, pools: Named, ask: (pool: WatchedPool) => number): void => {
    void new Gauge({
      name: `windlass_pool_${name}`,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const [pool, watched] of Object.entries(pools)) this.set({ pool }, ask(watched));
      },
    });
  };
  gauge('used_bytes', 'Memory that tenants hold of a pool that they share.', bytes, ({ used }) => used);
  gauge('size_bytes', 'Memory of a pool that tenants share.', bytes, ({ size }) => size);
  gauge('used_places', 'Work under way in a pool that tenants share.', places, ({ used }) => used);
  gauge('size_places', 'Work that may be under way at once in a pool that tenants share.', places, ({ size }) => size);
  const all = { ...bytes, ...places };
  gauge('waiting', 'Work that waits for room in a pool that tenants share.', all, ({ waiting }) => waiting);
}
