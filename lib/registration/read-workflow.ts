import type { Workflow } from '../../crds/schema/workflow.ts';
import { isUid } from '../../crds/uid.ts';
import { formerIdsOf } from '../catalogue/former-ids.ts';
import { workflows } from '../kinds.ts';
import { findObject, type KubeClient } from '../kube/index.ts';
import { objectName } from '../manifest/object-name.ts';

/** The workflow as the server has it: by uid, the name that its manifest has, or a uid that it had in another scope. */
export async function readWorkflow(
  kube: Pick<KubeClient, 'get' | 'listAll'>,
  namespace: string,
  nameOrUid: string,
): Promise<Workflow | undefined> {
  const name = objectName(nameOrUid);
  if (!isUid(nameOrUid)) return findObject(kube, workflows, { namespace, name });
  const { items } = await kube.listAll(workflows, { namespace });
  return (
    items.find(({ metadata }) => metadata.uid === nameOrUid) ??
    items.find(({ metadata }) => metadata.name === name) ??
    items.find((workflow) => formerIdsOf(workflow).includes(nameOrUid))
  );
}
