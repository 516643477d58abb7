import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import { type KubeClient, KubeError, type Resource } from '../../lib/kube/index.ts';

type Contexts = Pick<KubeClient, 'get' | 'list'>;
type Stored = ReadonlyMap<string, SecurityContextSpec>;

const absent = (): KubeError =>
  new KubeError(404, { reason: 'NotFound', details: { name: 'x' } }, { verb: 'get', resource: 'securitycontexts' });

/** Reads of security contexts where there is no cluster, by namespace and name. */
export const contextReads = (places: Readonly<Record<string, Stored>>): Contexts => ({
  async get(_resource: Resource, { namespace = '', name }) {
    const spec = places[namespace]?.get(name);
    if (spec === undefined) throw absent();
    return { metadata: { namespace, name }, spec } as never;
  },
  async list(_resource: Resource, { namespace = '' } = {}) {
    const items = [...(places[namespace]?.keys() ?? [])].map((name) => ({ metadata: { namespace, name } }));
    return { metadata: {}, items } as never;
  },
});
