import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { isUid } from '../../../crds/uid.ts';
import { workflowExecutions } from '../../../lib/kinds.ts';
import { findObject } from '../../../lib/kube/find-object.ts';
import type { CallOptions } from '../../../lib/kube/index.ts';
import { noExecution } from '../refusals.ts';
import type { KubernetesDeps } from './deps.ts';

/** The execution of that name or uid in the namespace. Throws a not-found error with a hint. */
export async function findExecution(
  { kube, namespace, words }: Pick<KubernetesDeps, 'kube' | 'namespace' | 'words'>,
  nameOrUid: string,
  options: CallOptions = {},
): Promise<WorkflowExecution> {
  if (isUid(nameOrUid)) {
    const { items } = await kube.listAll(workflowExecutions, { namespace, ...options });
    const found = items.find(({ metadata }) => metadata.uid === nameOrUid);
    if (found) return found;
    throw noExecution(nameOrUid, words);
  }
  const found = await findObject(kube, workflowExecutions, { namespace, name: nameOrUid }, options);
  if (found === undefined) throw noExecution(nameOrUid, words);
  return found;
}
