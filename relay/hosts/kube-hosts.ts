import { apiVersion } from '../../crds/labels.ts';
import { type EdgeHost, edgeHostName } from '../../crds/schema/edge-host.ts';
import { AppError } from '../../lib/errors.ts';
import type { Informer } from '../../lib/informer/index.ts';
import { edgeHosts } from '../../lib/kinds.ts';
import {
  createUnlessExists,
  findObject,
  isAbsent,
  isConflict,
  type KubeClient,
  type ListOptions,
  listPages,
} from '../../lib/kube/index.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { HostStore, NewHost, StoredHost } from './host-store.ts';

interface KubeHostsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'delete' | 'replaceStatus'>;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf' | 'tenantOf'>;
  readonly informer: Pick<Informer<EdgeHost>, 'cache' | 'onChange'>;
}

/** EdgeHosts in the namespaces of their tenants. */
export function createKubeHosts({ kube, tenants, informer }: KubeHostsDeps): HostStore {
  const stored = (object: EdgeHost): StoredHost | undefined => {
    const tenant = tenants.tenantOf(object.metadata.namespace ?? '');
    return tenant === undefined ? undefined : { tenant, object };
  };
  return {
    ...createReads(kube, tenants),
    ...createWrites(kube, tenants),
    cached(tenant, nodeId) {
      const namespace = tenants.namespaceOf(tenant);
      const object = namespace === undefined ? undefined : informer.cache.get(`${namespace}/${edgeHostName(nodeId)}`);
      return object === undefined ? undefined : { tenant, object };
    },
    *known() {
      for (const object of informer.cache.values()) {
        const host = stored(object);
        if (host !== undefined) yield host;
      }
    },
    onChange(handler) {
      informer.onChange(({ before, after }) => {
        const uid = (after ?? before)?.metadata.uid ?? '';
        handler(uid, after === undefined ? undefined : stored(after));
      });
    },
  };
}

type Reads = Pick<HostStore, 'find' | 'pagesOf'>;

function createReads(kube: KubeHostsDeps['kube'], tenants: KubeHostsDeps['tenants']): Reads {
  return {
    async find(tenant, nodeId) {
      const namespace = tenants.namespaceOf(tenant);
      // The relay may not have heard of the namespace yet, and its hosts are not gone.
      if (namespace === undefined)
        throw new AppError('unavailable', 'this relay does not know the tenant of the host; come back later');
      const object = await read(kube, namespace, nodeId);
      return object === undefined ? undefined : { tenant, object };
    },
    async *pagesOf(tenant) {
      const namespace = tenants.namespaceOf(tenant);
      if (namespace === undefined) return;
      const list = (options: ListOptions) => kube.list(edgeHosts, options);
      for await (const { items } of listPages(list, { namespace })) yield items.map((object) => ({ tenant, object }));
    },
  };
}

const read = (kube: KubeHostsDeps['kube'], namespace: string, nodeId: string): Promise<EdgeHost | undefined> =>
  findObject(kube, edgeHosts, { namespace, name: edgeHostName(nodeId) });

type Writes = Pick<HostStore, 'create' | 'write' | 'discard'>;

function createWrites(kube: KubeHostsDeps['kube'], tenants: KubeHostsDeps['tenants']): Writes {
  return {
    async create(host) {
      const namespace = tenants.namespaceOf(host.tenant);
      if (namespace === undefined) throw new AppError('not_found', 'the tenant of the token is not set up');
      const made = await createUnlessExists(kube, edgeHosts, objectOf(host, namespace));
      const object = made ?? (await read(kube, namespace, host.nodeId));
      if (object === undefined) throw new AppError('unavailable', 'the host is being deleted; try again');
      return { tenant: host.tenant, object };
    },
    async write({ tenant, object }, status) {
      try {
        return { tenant, object: await kube.replaceStatus(edgeHosts, { ...object, status }) };
      } catch (error) {
        if (isConflict(error) || isAbsent(error)) return undefined;
        throw error;
      }
    },
    async discard({ object: { metadata } }) {
      const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
      try {
        await kube.delete(edgeHosts, { name, namespace }, { uid, resourceVersion });
        return true;
      } catch (error) {
        if (isConflict(error)) return false;
        throw error;
      }
    },
  };
}

const objectOf = ({ nodeId, name, enrolledBy }: NewHost, namespace: string): EdgeHost => ({
  apiVersion,
  kind: 'EdgeHost',
  metadata: { name: edgeHostName(nodeId), namespace },
  spec: { name: name ?? nodeId, tags: [], labels: {}, enrolled_by: enrolledBy },
});
