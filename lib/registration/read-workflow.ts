import type { Workflow } from '../../crds/schema/workflow.ts';
import { workflows } from '../kinds.ts';
import { isNotFound, type KubeClient } from '../kube/index.ts';
import { objectName } from '../manifest/object-name.ts';
import { isUid } from '../uid.ts';

/** The workflow as the server has it: by the name that its manifest has, else by uid. */
export async function readWorkflow(
  kube: Pick<KubeClient, 'get' | 'listAll'>,
  namespace: string,
  nameOrUid: string,
): Promise<Workflow | undefined> {
  try {
    return await kube.get(workflows, { namespace, name: objectName(nameOrUid) });
  } catch (error) {
    // A server without our kinds answers 404 as well, in other words.
    if (!isNotFound(error) || !error.serverMessage.endsWith('" not found')) throw error;
  }
  if (!isUid(nameOrUid)) return undefined;
  const { items } = await kube.listAll(workflows, { namespace });
  return items.find((workflow) => workflow.metadata.uid === nameOrUid);
}
