import { isHeldByOthers } from '../../../../lib/being-deleted.ts';
import type { AuditTrail } from '../../../../lib/bus/index.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import { workflowExecutions } from '../../../../lib/kinds.ts';
import { isConflict, type KubeClient } from '../../../../lib/kube/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { notFound, unknownExecution } from '../../not-found.ts';
import { findExecution } from '../find-execution.ts';
import { deleteExecution } from './contract.ts';

export interface DeleteDeps {
  readonly kube: Pick<KubeClient, 'delete'>;
  readonly cluster: Pick<Cluster, 'executions'>;
  readonly audit: AuditTrail;
}

export function createDeleteRoute({ kube, cluster, audit }: DeleteDeps): Route<Caller> {
  return defineRoute<typeof deleteExecution, Caller>(deleteExecution, async (request) => {
    const { params, caller } = request;
    const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
    const { metadata } = await findExecution(cluster.executions, caller, params.execution_id, reserve);
    const status = isHeldByOthers({ metadata }) ? 'deleting' : 'deleted';
    const { name, namespace = '', uid = '' } = metadata;
    try {
      await kube.delete(workflowExecutions, { name, namespace }, { uid, propagation: 'Background' });
    } catch (error) {
      // Another one has its name by now.
      if (isConflict(error)) throw notFound(unknownExecution, { cause: error });
      throw error;
    }
    audit.record({ type: 'ExecutionDeleted', by: caller, subject: uid, act: 'delete', data: { execution: name } });
    return json({ status });
  });
}
