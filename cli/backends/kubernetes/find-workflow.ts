import { globalNamespace } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowScope } from '../../../lib/workflow-lookup/scope.ts';
import { readWorkflow } from '../../../lib/registration/index.ts';
import { noWorkflow } from '../refusals.ts';
import type { KubernetesDeps } from './deps.ts';
import { onlyTheApi } from './only-the-api.ts';
import { unlessRefused } from './unless-refused.ts';

/** The workflow of that name or uid, here or else in the global namespace: where the controller looks as well. */
export async function findWorkflow(
  { kube, namespace, words }: Pick<KubernetesDeps, 'kube' | 'namespace' | 'words'>,
  nameOrUid: string,
  scope?: WorkflowScope,
): Promise<Workflow> {
  for (const place of placesOf(namespace, scope)) {
    const reading = readWorkflow(kube, place, nameOrUid);
    const found = await (place === globalNamespace ? unlessRefused(reading) : reading);
    if (found) return found;
  }
  throw noWorkflow(nameOrUid, words);
}

function placesOf(namespace: string, scope: WorkflowScope | undefined): readonly string[] {
  if (scope === 'user') throw onlyTheApi('workflows of user scope are known to the API only');
  if (scope === 'global') return [globalNamespace];
  return scope === undefined ? [...new Set([namespace, globalNamespace])] : [namespace];
}
