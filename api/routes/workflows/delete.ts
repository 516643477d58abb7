import type { AuditTrail } from '../../../lib/bus/index.ts';
import { scopeOf } from '../../../lib/workflow-lookup/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defineRoute, HttpError, json, type Route } from '../../../lib/http/index.ts';
import { workflows as workflowKind } from '../../../lib/kinds.ts';
import { isConflict, type KubeClient } from '../../../lib/kube/index.ts';
import { workflowName } from '../../../lib/manifest/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import { type Caller, requireOperator } from '../../../lib/identity/index.ts';
import { stillHeld } from '../being-deleted.ts';
import { notFound, unknownWorkflow } from '../not-found.ts';
import { deleteWorkflow } from './contract.ts';
import { findWorkflow } from './find-workflow.ts';

interface DeleteDeps {
  readonly kube: Pick<KubeClient, 'delete'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly cluster: Pick<Cluster, 'workflows'>;
  readonly audit: AuditTrail;
}

export function createDeleteRoute({ kube, clock, cluster, audit }: DeleteDeps): Route<Caller> {
  return defineRoute<typeof deleteWorkflow, Caller>(deleteWorkflow, async ({ params, query, caller }) => {
    const wanted = { nameOrUid: params.workflow, scope: query.scope };
    const workflow = await findWorkflow(cluster.workflows, caller, wanted);
    if (scopeOf(workflow) === 'global') requireOperator(caller);
    const { namespace, name, uid = '' } = workflow.metadata;
    const isDeleted = await kube.delete(workflowKind, { namespace, name }, { uid }).catch(asRace);
    if (!isDeleted) throw notFound(unknownWorkflow);
    await cluster.workflows.forgotten(uid);
    const data = { workflow: workflowName(workflow.metadata), scope: scopeOf(workflow) };
    audit.record({ type: 'WorkflowDeleted', by: caller, subject: uid, data });
    return json({
      workflow_id: uid,
      name: workflowName(workflow.metadata),
      deleted_at: new Date(clock.now()).toISOString(),
      ...stillHeld(workflow),
    });
  });
}

/** Another caller has deleted it, and one of the same name was registered since. */
function asRace(error: unknown): never {
  if (!isConflict(error)) throw error;
  const message = 'another workflow of that name was registered meanwhile';
  throw new HttpError({ code: 'conflict', message, cause: error });
}
