import { globalNamespace } from '../../crds/labels.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { keyOf } from '../../lib/kube/index.ts';
import { workflowName } from '../../lib/manifest/index.ts';
import type { Informers } from '../informers.ts';
import type { Controller } from '../runtime/index.ts';

const sourcesOf = (router: StimulusRouter | undefined): string[] => Object.keys(router?.spec.routes ?? {});

/**
 * A router wakes all that share a source with it, since one gets what another gives up; a workflow wakes the routers
 * that name it; a namespace that becomes a tenant, or ceases to be one, those that stand in it and their rivals.
 */
export function connectRouters(
  { routers, workflows, tenants }: Pick<Informers, 'routers' | 'workflows' | 'tenants'>,
  { queue }: Controller,
): void {
  const wakeRivals = (...changed: readonly (StimulusRouter | undefined)[]): void => {
    for (const source of new Set(changed.flatMap(sourcesOf))) {
      for (const rival of routers.cache.byIndex('source', source)) queue.add(keyOf(rival));
    }
  };
  routers.onChange(({ key, before, after, own }) => {
    if (!own) queue.add(key);
    // Our own write is news to the rivals all the same: it may record or drop a claim.
    wakeRivals(before, after);
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
  tenants.onChange(({ key }) => {
    for (const router of routers.cache.byIndex('namespace', key)) {
      queue.add(keyOf(router));
      wakeRivals(router);
    }
  });
}
