import { globalNamespace } from '../crds/labels.ts';
import type { Workflow, WorkflowSpec } from '../crds/schema/workflow.ts';
import { workflows } from '../lib/kinds.ts';
import type { KubeClient } from '../lib/kube/index.ts';
import { isNotFound } from '../lib/kube/kube-error.ts';
import { controllerRevisions } from '../lib/kube/resource.ts';
import { workflowName as nameOf, objectName } from '../lib/manifest/object-name.ts';
import { CliError } from './exit-codes.ts';
import { uid } from './find-execution.ts';
import { unlessRefused } from './unless-refused.ts';

export interface WorkflowReader {
  readonly kube: Pick<KubeClient, 'get' | 'listAll'>;
  readonly namespace: string;
}

/** The workflow of that name or uid, here or else in the global namespace: where the controller looks as well. */
export async function findWorkflow(reader: WorkflowReader, nameOrUid: string): Promise<Workflow> {
  const here = await workflowNamed(reader, nameOrUid);
  const found = here ?? (await unlessRefused(workflowNamed({ ...reader, namespace: globalNamespace }, nameOrUid)));
  if (found) return found;
  throw new CliError(
    'not_found',
    `no workflow '${nameOrUid}' in namespace ${reader.namespace} or ${globalNamespace}`,
    `List what there is: windlass workflow list -n ${reader.namespace}`,
  );
}

/** The name of a workflow as its manifest has it. */
export function workflowName({ metadata }: Workflow): string {
  return nameOf(metadata);
}

/**
 * The spec of one stored version, by default the newest. Throws a not-found error that lists the versions there are.
 */
export async function specOfVersion(
  kube: WorkflowReader['kube'],
  workflow: Workflow,
  version: string | undefined,
): Promise<WorkflowSpec> {
  if (version === undefined || version === workflow.spec.version) return workflow.spec;
  const stored = workflow.status?.versions ?? [];
  const wanted = stored.find((candidate) => candidate.version === version);
  if (wanted === undefined) {
    const known = stored.map((candidate) => candidate.version).join(', ') || workflow.spec.version;
    throw new CliError(
      'not_found',
      `workflow '${workflowName(workflow)}' has no version ${version}`,
      `It has: ${known}.`,
    );
  }
  const ref = { namespace: workflow.metadata.namespace, name: wanted.revision };
  const { data } = await kube.get(controllerRevisions, ref);
  const { spec } = data as { readonly spec: WorkflowSpec };
  return spec;
}

/** By the name that its manifest has, else by uid. */
async function workflowNamed({ kube, namespace }: WorkflowReader, nameOrUid: string): Promise<Workflow | undefined> {
  try {
    return await kube.get(workflows, { namespace, name: objectName(nameOrUid) });
  } catch (error) {
    if (!isNotFound(error) || !error.serverMessage.endsWith('" not found')) throw error;
  }
  if (!uid.test(nameOrUid)) return undefined;
  const { items } = await kube.listAll(workflows, { namespace });
  return items.find((workflow) => workflow.metadata.uid === nameOrUid);
}
