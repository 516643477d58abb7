import type { Workflow } from '../../../../crds/schema/workflow.ts';
import { workflowName } from '../../../../lib/manifest/index.ts';
import { isStill, type ListedWorkflow } from '../../../../lib/workflow-lookup/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { workflows as workflowKind } from '../../../../lib/kinds.ts';
import { findAgain, type KubeClient, type KubeObject } from '../../../../lib/kube/index.ts';
import { metadataOf } from '../../../../lib/kube/resource.ts';
import type { Cluster } from '../../../cluster/index.ts';
import { refuseBeingDeleted } from '../../being-deleted.ts';
import { notFound, unknownWorkflow } from '../../not-found.ts';
import { findVersion } from '../../workflows/find-version.ts';
import { assertInput, assertReady, type StartBody } from './plan-start.ts';

interface StartableDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly cluster: Pick<Cluster, 'workflows'>;
}

interface Asked {
  readonly body: Pick<StartBody, 'workflow' | 'version' | 'input'>;
  readonly caller: Caller;
}

/**
 * A version that another replica registered a moment ago starts. The server is asked for the metadata only: the
 * version that the cache knows is nearly always the newest, and is read in its turn.
 */
async function newest({ kube, cluster }: StartableDeps, known: ListedWorkflow): Promise<Workflow | undefined> {
  const now = await findAgain<KubeObject>(kube, metadataOf(workflowKind), known);
  if (now === undefined) return undefined;
  const isNewest = now.metadata.resourceVersion === known.metadata.resourceVersion;
  return isNewest ? cluster.workflows.whole(known) : findAgain<Workflow>(kube, workflowKind, known);
}

/**
 * The workflow as the server has it, where nothing speaks against its start. Throws 404 where the caller has no such
 * workflow or version, 409 for one that is being deleted,
 * and 422 for a definition that cannot run or an input that does not fit.
 */
export async function startable({ kube, cluster }: StartableDeps, { body, caller }: Asked): Promise<Workflow> {
  const known = await cluster.workflows.locate(caller, body.workflow);
  const workflow = known && (await newest({ kube, cluster }, known));
  if (known === undefined || workflow === undefined || !isStill(known, workflow)) throw notFound(unknownWorkflow);
  refuseBeingDeleted(`workflow ${workflowName(workflow.metadata)}`, workflow);
  assertReady(workflow, body.version);
  const spec = await findVersion(kube, workflow, body.version);
  assertInput(spec, body.input);
  return workflow;
}
