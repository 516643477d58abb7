import type { AuditTrail } from '../../../../lib/bus/index.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { commitCancel } from '../../../../lib/decision/commit-cancel.ts';
import { finished } from '../../../../lib/execution/finished.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import type { KubeClient } from '../../../../lib/kube/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { findExecution } from '../find-execution.ts';
import { onLatest } from '../on-latest.ts';
import { cancelExecution } from './contract.ts';

export interface CancelDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>;
  readonly clock: Clock;
  readonly cluster: Pick<Cluster, 'executions'>;
  readonly audit: AuditTrail;
}

export function createCancelRoute({ kube, clock, cluster, audit }: CancelDeps): Route<Caller> {
  return defineRoute<typeof cancelExecution, Caller>(cancelExecution, async (request) => {
    const { params, body, caller } = request;
    const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
    const known = await findExecution(cluster.executions, caller, params.execution_id, reserve);
    const wanted = { ...body, by: caller.subject, at: new Date(clock.now()).toISOString(), via: 'api' };
    const execution = await onLatest(kube, known, (latest) => commitCancel(kube, latest, wanted));
    const { by, at, via } = execution.spec.cancel ?? {};
    const subject = execution.metadata.uid ?? '';
    // The stored cancellation may come from an earlier attempt of the same caller that ended before it recorded the audit
    // event. A user of the API server may have the same name.
    const doneAt = at === wanted.at ? undefined : at;
    if (by === wanted.by && via === wanted.via)
      audit.record({ type: 'ExecutionCancelled', by: caller, subject, act: 'cancel', doneAt });
    return json({ status: finished(execution) ? 'cancelled' : 'cancelling', by, at });
  });
}
