import { globalNamespace } from '../../crds/labels.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { keyOf, type Namespace } from '../../lib/kube/index.ts';
import { workflowName } from '../../lib/manifest/index.ts';
import { sourceKeysOf } from '../../lib/stimulus/source-claims.ts';
import { assignedClaims } from '../../lib/tenant/tenant-directory.ts';
import type { Opened, Wakes } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { tenantInformer } from '../tenants.ts';
import { agentInformer } from '../agent/informer.ts';
import { workflowInformer } from '../workflow/informers.ts';
import { routerInformer } from './informer.ts';

const claimsOf = (router: StimulusRouter | undefined): string[] => (router === undefined ? [] : sourceKeysOf(router));
const assignedTo = (namespace: Namespace | undefined): string[] =>
  namespace === undefined ? [] : assignedClaims(namespace);

/** All of a router that decides what its rivals get. */
function rivalryOf(router: StimulusRouter | undefined): string | undefined {
  if (router === undefined) return undefined;
  const { metadata, spec, status } = router;
  const { uid, deletionTimestamp } = metadata;
  return JSON.stringify([uid, deletionTimestamp !== undefined, Object.keys(spec.routes ?? {}), status?.claims ?? []]);
}

/** The caches that routers are decided from. */
export const routerInformers = {
  routers: routerInformer,
  workflows: workflowInformer,
  agents: agentInformer,
  tenants: tenantInformer,
} as const;

type Routers = Opened<typeof routerInformers>['routers'];

const claimants = ({ cache }: Routers, claims: readonly string[]): string[] =>
  [...new Set(claims)].flatMap((claim) => cache.byIndex('source', claim).map(keyOf));

/**
 * A router wakes all that share a source with it, since one gets what another gives up. A workflow or an agent wakes
 * the routers that name it. A namespace that becomes a tenant, or ceases to be one, wakes the routers in it, their
 * rivals, and those of the sources that are assigned to it.
 */
export const routerWakes: Wakes<typeof routerInformers> = {
  routers(change, { routers }) {
    const { before, after } = change;
    // Our own write is news to the rivals as well where it records or drops a claim, and only there.
    const isNews = rivalryOf(before) !== rivalryOf(after);
    return [...wakeItself(change), ...(isNews ? claimants(routers, [before, after].flatMap(claimsOf)) : [])];
  },
  workflows({ before, after }, { routers }) {
    const workflow = after ?? before;
    if (workflow === undefined) return [];
    const { name, uid = '', namespace } = workflow.metadata;
    return [...new Set([workflowName(workflow.metadata), name, uid])]
      .flatMap((wanted) => routers.cache.byIndex('workflow', wanted))
      .filter(({ metadata }) => namespace === globalNamespace || namespace === metadata.namespace)
      .map(keyOf);
  },
  agents({ before, after }, { routers }) {
    const agent = after ?? before;
    if (agent === undefined) return [];
    const { name, uid = '', namespace } = agent.metadata;
    return [name, uid]
      .flatMap((wanted) => routers.cache.byIndex('agent', wanted))
      .filter(({ metadata }) => namespace === globalNamespace || namespace === metadata.namespace)
      .map(keyOf);
  },
  tenants({ key, before, after }, { routers }) {
    const inside = routers.cache.byIndex('namespace', key);
    const claims = [...[before, after].flatMap(assignedTo), ...inside.flatMap(claimsOf)];
    return [...inside.map(keyOf), ...claimants(routers, claims)];
  },
};
