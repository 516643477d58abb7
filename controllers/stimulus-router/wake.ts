import { globalNamespace } from '../../crds/labels.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { keyOf, type Namespace } from '../../lib/kube/index.ts';
import { workflowName } from '../../lib/manifest/index.ts';
import { claimKeysOf } from '../../lib/stimulus/claims.ts';
import { assignedClaims } from '../../lib/tenant/tenant-directory.ts';
import type { Informers } from '../informers.ts';
import type { Controller } from '../runtime/index.ts';

const claimsOf = (router: StimulusRouter | undefined): string[] => (router === undefined ? [] : claimKeysOf(router));
const assignedTo = (namespace: Namespace | undefined): string[] =>
  namespace === undefined ? [] : assignedClaims(namespace);

/** All of a router that decides what its rivals get. */
function rivalryOf(router: StimulusRouter | undefined): string | undefined {
  if (router === undefined) return undefined;
  const { metadata, spec, status } = router;
  const { uid, deletionTimestamp } = metadata;
  return JSON.stringify([uid, deletionTimestamp !== undefined, Object.keys(spec.routes ?? {}), status?.claims ?? []]);
}

/**
 * A router wakes all that share a source with it, since one gets what another gives up; a workflow wakes the routers
 * that name it; a namespace that becomes a tenant, or ceases to be one, those that stand in it and their rivals, and
 * those of the sources that are assigned to it.
 */
export function connectRouters(
  { routers, workflows, tenants }: Pick<Informers, 'routers' | 'workflows' | 'tenants'>,
  { queue }: Controller,
): void {
  const wakeClaimants = (claims: readonly string[]): void => {
    for (const claim of new Set(claims)) {
      for (const rival of routers.cache.byIndex('source', claim)) queue.add(keyOf(rival));
    }
  };
  const wakeRivals = (...changed: readonly (StimulusRouter | undefined)[]): void =>
    wakeClaimants(changed.flatMap(claimsOf));
  routers.onChange(({ key, before, after, own }) => {
    if (!own) queue.add(key);
    // Our own write is news to the rivals as well where it records or drops a claim, and only there.
    if (rivalryOf(before) !== rivalryOf(after)) wakeRivals(before, after);
  });
  workflows.onChange(({ before, after }) => {
    const workflow = after ?? before;
    if (workflow === undefined) return;
    const { name, uid = '', namespace } = workflow.metadata;
    for (const wanted of new Set([workflowName(workflow.metadata), name, uid])) {
      for (const router of routers.cache.byIndex('workflow', wanted)) {
        if (namespace === globalNamespace || namespace === router.metadata.namespace) queue.add(keyOf(router));
      }
    }
  });
  tenants.onChange(({ key, before, after }) => {
    wakeClaimants([before, after].flatMap(assignedTo));
    for (const router of routers.cache.byIndex('namespace', key)) {
      queue.add(keyOf(router));
      wakeRivals(router);
    }
  });
}
