import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import { AppError } from '../errors.ts';
import { controllerRevisions, type KubeClient } from '../kube/index.ts';
import { workflowName } from '../manifest/object-name.ts';

/**
 * The spec of one stored version, by default the newest. Throws a not-found error that lists the versions there are.
 */
export async function specOfVersion(
  kube: Pick<KubeClient, 'get'>,
  workflow: Workflow,
  version: string | undefined,
): Promise<WorkflowSpec> {
  if (version === undefined || version === workflow.spec.version) return workflow.spec;
  const stored = workflow.status?.versions ?? [];
  const wanted = stored.find((candidate) => candidate.version === version);
  if (wanted === undefined) throw noSuchVersion(workflow, version);
  const ref = { namespace: workflow.metadata.namespace, name: wanted.revision };
  const { data } = await kube.get(controllerRevisions, ref);
  const { spec } = data as { readonly spec: WorkflowSpec };
  return spec;
}

function noSuchVersion({ metadata, spec, status }: Workflow, version: string): AppError {
  const known = status?.versions?.map((row) => row.version).join(', ') || spec.version;
  const message = `workflow '${workflowName(metadata)}' has no version ${version}. It has: ${known}.`;
  return new AppError('not_found', message, { reason: 'VersionNotFound' });
}
