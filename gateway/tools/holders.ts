import { holderOf, type Registered, registeredNameOf } from '../../lib/api-spec/index.ts';
import type { Tenancy } from '../identity/tenancy.ts';

/** Objects of one namespace that share the names of tools. */
export type Rivals = (namespace: string) => readonly Registered[];

/**
 * Tells which object a name means where several that a tenant sees claim it, of whatever kind and place: a shared one, else
 * the oldest, as in the condition Ready. Lists and calls go by it alike (GW-WF-01, GW-OP-20).
 */
interface Holders {
  /** The holder of each name. */
  all(tenant: string | undefined): ReadonlySet<Registered>;
  of(tenant: string | undefined, name: string): Registered | undefined;
}

export function createHolders(tenancy: Pick<Tenancy, 'visibleTo'>, rivals: Rivals): Holders {
  const visible = (tenant: string | undefined): Registered[] => tenancy.visibleTo(tenant).flatMap(rivals);
  return {
    all(tenant) {
      const claims = Map.groupBy(visible(tenant), registeredNameOf);
      return new Set([...claims.values()].flatMap((claimants) => holderOf(claimants) ?? []));
    },
    of: (tenant, name) => holderOf(visible(tenant).filter((object) => registeredNameOf(object) === name)),
  };
}
