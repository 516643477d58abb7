import { globalNamespace } from '../crds/labels.ts';
import type { Workflow } from '../crds/schema/workflow.ts';
import type { KubeClient } from '../lib/kube/index.ts';
import { workflowName as nameOf } from '../lib/manifest/object-name.ts';
import { readWorkflow } from '../lib/registration/index.ts';
import { CliError } from './exit-codes.ts';
import { unlessRefused } from './unless-refused.ts';

export interface WorkflowReader {
  readonly kube: Pick<KubeClient, 'get' | 'listAll'>;
  readonly namespace: string;
}

/** The workflow of that name or uid, here or else in the global namespace: where the controller looks as well. */
export async function findWorkflow({ kube, namespace }: WorkflowReader, nameOrUid: string): Promise<Workflow> {
  const here = await readWorkflow(kube, namespace, nameOrUid);
  const found = here ?? (await unlessRefused(readWorkflow(kube, globalNamespace, nameOrUid)));
  if (found) return found;
  throw new CliError(
    'not_found',
    `no workflow '${nameOrUid}' in namespace ${namespace} or ${globalNamespace}`,
    `List what there is: windlass workflow list -n ${namespace}`,
  );
}

/** The name of a workflow as its manifest has it. */
export function workflowName({ metadata }: Workflow): string {
  return nameOf(metadata);
}
