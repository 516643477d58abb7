import type { Workflow } from '../../crds/schema/workflow.ts';
import { workflows } from '../kinds.ts';
import { findObject, type KubeClient } from '../kube/index.ts';
import { objectName } from '../manifest/object-name.ts';
import { isUid } from '../uid.ts';

/** The workflow as the server has it: by the name that its manifest has, else by uid. */
export async function readWorkflow(
  kube: Pick<KubeClient, 'get' | 'listAll'>,
  namespace: string,
  nameOrUid: string,
): Promise<Workflow | undefined> {
  const named = await findObject(kube, workflows, { namespace, name: objectName(nameOrUid) });
  if (named !== undefined || !isUid(nameOrUid)) return named;
  const { items } = await kube.listAll(workflows, { namespace });
  return items.find((workflow) => workflow.metadata.uid === nameOrUid);
}
