import { randomUUID } from 'node:crypto';
import { edgeHostName } from '../../crds/schema/edge-host.ts';
import type { HostStore, StoredHost } from '../../relay/hosts/host-store.ts';

/** EdgeHosts in memory, with the guard that the API server gives: a write to an older version changes nothing. */
export interface MemoryHosts extends HostStore {
  /** Writes of status so far. */
  writes(): number;
  /** `at`: when, as the API writes it; absent: as kubectl revokes. */
  revoke(tenant: string, nodeId: string, at?: string): void;
  /** Acts of an operator. */
  tag(tenant: string, nodeId: string, tags: string[]): void;
  drain(tenant: string, nodeId: string): void;
  remove(tenant: string, nodeId: string): void;
  /** News that a host is gone which is there, as of a watch that begins anew at a server that is behind. */
  lose(tenant: string, nodeId: string): void;
  /** Keeps news of changes from the relays, as a slow watch does, until the answer is called. */
  holdNews(): () => void;
}

export function createMemoryHosts(): MemoryHosts {
  const stored = new Map<string, StoredHost>();
  /** As the watch has seen them. */
  const seen = new Map<string, StoredHost>();
  const handlers: ((uid: string, after: StoredHost | undefined) => void)[] = [];
  let version = 0;
  let writes = 0;
  let held: (() => void)[] | undefined;
  const tell = (key: string, uid: string, after: StoredHost | undefined): void => {
    const now = (): void => {
      if (after === undefined) seen.delete(key);
      else seen.set(key, after);
      handlers.forEach((handler) => handler(uid, after));
    };
    if (held === undefined) now();
    else held.push(now);
  };
  const keyOf = (tenant: string, nodeId: string): string => `${tenant}/${edgeHostName(nodeId)}`;
  const put = (key: string, { tenant, object }: StoredHost): StoredHost => {
    version += 1;
    const host = { tenant, object: { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } } };
    stored.set(key, host);
    tell(key, object.metadata.uid ?? '', host);
    return host;
  };
  return {
    find: async (tenant, nodeId) => stored.get(keyOf(tenant, nodeId)),
    async *pagesOf(tenant) {
      yield [...stored.values()].filter((host) => host.tenant === tenant);
    },
    cached: (tenant, nodeId) => seen.get(keyOf(tenant, nodeId)),
    async create({ tenant, nodeId, name, enrolledBy }) {
      const key = keyOf(tenant, nodeId);
      const metadata = { name: edgeHostName(nodeId), namespace: tenant, uid: randomUUID() };
      const spec = { name: name ?? nodeId, tags: [], labels: {}, enrolled_by: enrolledBy };
      const object = { apiVersion: 'windlass.dev/v1', kind: 'EdgeHost', metadata, spec } as const;
      return stored.get(key) ?? put(key, { tenant, object });
    },
    async write({ tenant, object }, status) {
      const key = `${tenant}/${object.metadata.name}`;
      const now = stored.get(key);
      if (now?.object.metadata.resourceVersion !== object.metadata.resourceVersion) return undefined;
      writes += 1;
      return put(key, { tenant, object: { ...object, status } });
    },
    async discard({ tenant, object }) {
      const key = `${tenant}/${object.metadata.name}`;
      if (stored.get(key)?.object.metadata.resourceVersion !== object.metadata.resourceVersion) return false;
      stored.delete(key);
      tell(key, object.metadata.uid ?? '', undefined);
      return true;
    },
    known: () => stored.values(),
    onChange: (handler) => void handlers.push(handler),
    writes: () => writes,
    holdNews() {
      held = [];
      return () => {
        const waiting = held ?? [];
        held = undefined;
        for (const now of waiting) now();
      };
    },
    revoke(tenant, nodeId, at) {
      const host = stored.get(keyOf(tenant, nodeId));
      if (host === undefined) return;
      const spec = { ...host.object.spec, revoked: true, ...(at !== undefined && { revoked_at: at }) };
      put(keyOf(tenant, nodeId), { tenant, object: { ...host.object, spec } });
    },
    tag(tenant, nodeId, tags) {
      const host = stored.get(keyOf(tenant, nodeId));
      if (host === undefined) return;
      put(keyOf(tenant, nodeId), { tenant, object: { ...host.object, spec: { ...host.object.spec, tags } } });
    },
    drain(tenant, nodeId) {
      const host = stored.get(keyOf(tenant, nodeId));
      if (host === undefined) return;
      put(keyOf(tenant, nodeId), { tenant, object: { ...host.object, spec: { ...host.object.spec, draining: true } } });
    },
    lose(tenant, nodeId) {
      tell(keyOf(tenant, nodeId), stored.get(keyOf(tenant, nodeId))?.object.metadata.uid ?? '', undefined);
    },
    remove(tenant, nodeId) {
      const uid = stored.get(keyOf(tenant, nodeId))?.object.metadata.uid ?? '';
      stored.delete(keyOf(tenant, nodeId));
      tell(keyOf(tenant, nodeId), uid, undefined);
    },
  };
}
