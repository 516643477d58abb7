import { annotations } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import { controllerRevisions, type KubeClient, metadataOf, type ObjectMeta } from '../../../lib/kube/index.ts';
import { registeredAt, revisionSelector, type Versioned } from '../../../lib/registration/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { listWorkflowVersions } from './contract.ts';
import { findWorkflow } from './find-workflow.ts';
import type { WorkflowVersion } from './schema.ts';

interface VersionsDeps {
  readonly kube: Pick<KubeClient, 'listAll'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly cluster: Pick<Cluster, 'workflows'>;
}

export function createVersionsRoute(deps: VersionsDeps): Route<Caller> {
  return defineRoute<typeof listWorkflowVersions, Caller>(listWorkflowVersions, async ({ params, query, caller }) => {
    const wanted = { nameOrUid: params.workflow, scope: query.scope };
    const workflow = await findWorkflow(deps.cluster.workflows, caller, wanted);
    const { namespace } = workflow.metadata;
    const selection = { namespace, labelSelector: revisionSelector(workflow) };
    const { items } = await deps.kube.listAll(metadataOf(controllerRevisions), selection);
    return json({ versions: versionsOf(workflow, items, deps.clock.now()) });
  });
}

/**
 * Every version, the newest first. The status lists most of them. Others were stored since the controllers last looked,
 * or too long ago to be listed. A content may not be stored yet.
 */
export function versionsOf(
  { spec, status }: Pick<Versioned, 'spec' | 'status'>,
  revisions: readonly { readonly metadata: ObjectMeta }[],
  now: number,
): WorkflowVersion[] {
  const listed = (status?.versions ?? []).map(({ version, registered_at }) => ({ version, registered_at }));
  const stored = revisions
    .map(({ metadata }) => ({
      version: metadata.annotations?.[annotations.version] ?? '',
      registered_at: registeredAt({ metadata }),
    }))
    .filter(({ version }) => version !== '' && !listed.some((row) => row.version === version))
    .toSorted((a, b) => b.registered_at.localeCompare(a.registered_at))
    .filter(({ version }, index, all) => all.findIndex((row) => row.version === version) === index);
  const oldest = (listed.length >= limits.workflowVersionsListed && listed.at(-1)?.registered_at) || '';
  const isNew = (row: { registered_at: string }): boolean => row.registered_at >= oldest;
  const known = [...stored.filter(isNew), ...listed, ...stored.filter((row) => !isNew(row))];
  const isStored = known.some(({ version }) => version === spec.version);
  const unstored = isStored ? [] : [{ version: spec.version, registered_at: new Date(now).toISOString() }];
  return [...unstored, ...known].map((row) => ({ ...row, current: row.version === spec.version }));
}
