import type { HostStore, StoredHost } from './host-store.ts';

/** Which hosts have which key now, as far as this relay has heard. */
export interface KeyHolders {
  /** Whether another host of the tenant has the key. `key` as it is stored: base64. */
  isOfAnother(host: StoredHost, key: string): boolean;
}

/** Follows the news of all hosts, so that a rotation looks at no host but its own. */
export function createKeyHolders(hosts: Pick<HostStore, 'known' | 'onChange'>): KeyHolders {
  const keyOf = new Map<string, string>();
  const holders = new Map<string, Set<string>>();
  const take = (uid: string, host: StoredHost | undefined): void => {
    const [before, now] = [keyOf.get(uid), host && placeOf(host)];
    if (before === now) return;
    if (before !== undefined) {
      const others = holders.get(before);
      others?.delete(uid);
      if (others?.size === 0) holders.delete(before);
      keyOf.delete(uid);
    }
    if (now === undefined) return;
    keyOf.set(uid, now);
    const known = holders.get(now);
    if (known === undefined) holders.set(now, new Set([uid]));
    else known.add(uid);
  };
  for (const host of hosts.known()) take(host.object.metadata.uid ?? '', host);
  hosts.onChange(take);
  return {
    isOfAnother({ tenant, object }, key) {
      for (const uid of holders.get(`${tenant}/${key}`) ?? []) if (uid !== object.metadata.uid) return true;
      return false;
    },
  };
}

/** Undefined: the host has no key yet. */
function placeOf({ tenant, object }: StoredHost): string | undefined {
  const key = object.status?.keys.current;
  return key === undefined ? undefined : `${tenant}/${key}`;
}
