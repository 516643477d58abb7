import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { isUid } from '../../../crds/uid.ts';
import { workflowExecutions } from '../../../lib/kinds.ts';
import { findObject } from '../../../lib/kube/find-object.ts';
import type { CallOptions, KubeClient } from '../../../lib/kube/index.ts';
import { CliError } from '../../exit-codes.ts';
import type { Cluster } from './kubernetes-door.ts';

/** The execution of that name or uid in the namespace. Throws a not-found error with a hint. */
export async function findExecution(
  { kube, namespace }: Pick<Cluster, 'namespace'> & { kube: Pick<KubeClient, 'get' | 'listAll'> },
  nameOrUid: string,
  options: CallOptions = {},
): Promise<WorkflowExecution> {
  if (isUid(nameOrUid)) {
    const { items } = await kube.listAll(workflowExecutions, { namespace, ...options });
    const found = items.find(({ metadata }) => metadata.uid === nameOrUid);
    if (found) return found;
    throw missing(nameOrUid, namespace);
  }
  const found = await findObject(kube, workflowExecutions, { namespace, name: nameOrUid }, options);
  if (found === undefined) throw missing(nameOrUid, namespace);
  return found;
}

function missing(name: string, namespace: string): CliError {
  return new CliError(
    'not_found',
    `no execution '${name}' in namespace ${namespace}`,
    `List what there is: windlass list -n ${namespace}`,
  );
}
