import { globalNamespace } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { Scope } from '../../../lib/catalogue/scope.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { readWorkflow } from '../../../lib/registration/index.ts';
import { CliError } from '../../exit-codes.ts';
import { onlyTheApi } from './only-the-api.ts';
import { unlessRefused } from './unless-refused.ts';

interface WorkflowReader {
  readonly kube: Pick<KubeClient, 'get' | 'listAll'>;
  readonly namespace: string;
}

/** The workflow of that name or uid, here or else in the global namespace: where the controller looks as well. */
export async function findWorkflow(reader: WorkflowReader, nameOrUid: string, scope?: Scope): Promise<Workflow> {
  const { kube, namespace } = reader;
  const places = placesOf(namespace, scope);
  for (const place of places) {
    const reading = readWorkflow(kube, place, nameOrUid);
    const found = await (place === globalNamespace ? unlessRefused(reading) : reading);
    if (found) return found;
  }
  throw new CliError(
    'not_found',
    `no workflow '${nameOrUid}' in namespace ${places.join(' or ')}`,
    `List what there is: windlass workflow list -n ${namespace}`,
  );
}

function placesOf(namespace: string, scope: Scope | undefined): readonly string[] {
  if (scope === 'user') throw onlyTheApi('only the API knows whose workflow one of scope user is');
  if (scope === 'global') return [globalNamespace];
  return scope === undefined ? [...new Set([namespace, globalNamespace])] : [namespace];
}
