import type { Workflow } from '../../crds/schema/workflow.ts';
import { isUid } from '../../crds/uid.ts';
import { formerIdsOf } from '../workflow-lookup/former-ids.ts';
import { workflows } from '../kinds.ts';
import { findObject, type KubeClient, type ObjectRef } from '../kube/index.ts';
import { isNameOfOurs, objectName, workflowName } from '../manifest/object-name.ts';

/** The workflow as the server has it: by uid, the name that its manifest has, or a uid that it had in another scope. */
export async function readWorkflow(
  kube: Pick<KubeClient, 'get' | 'listAll'>,
  namespace: string,
  nameOrUid: string,
): Promise<Workflow | undefined> {
  if (!isUid(nameOrUid)) {
    const ref = { namespace, name: objectName(nameOrUid) };
    return (await named(kube, ref, nameOrUid)) ?? byObjectName(kube, namespace, nameOrUid);
  }
  const { items } = await kube.listAll(workflows, { namespace });
  return (
    items.find(({ metadata }) => metadata.uid === nameOrUid) ??
    items.find((workflow) => formerIdsOf(workflow).includes(nameOrUid))
  );
}

/** An object under a derived name is the workflow only where it records the name that this was derived from. */
async function named(kube: Pick<KubeClient, 'get'>, ref: ObjectRef, name: string): Promise<Workflow | undefined> {
  const found = await findObject(kube, workflows, ref);
  return found !== undefined && workflowName(found.metadata) === name ? found : undefined;
}

/** The name that kubectl shows of a workflow with an unusual name. */
async function byObjectName(
  kube: Pick<KubeClient, 'get'>,
  namespace: string,
  name: string,
): Promise<Workflow | undefined> {
  return isNameOfOurs(name) ? findObject(kube, workflows, { namespace, name }) : undefined;
}
