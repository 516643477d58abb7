import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { commitDecision } from '../../../../lib/decision/commit-decision.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import type { KubeClient } from '../../../../lib/kube/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../identity/caller.ts';
import { findExecution } from '../find-execution.ts';
import { onLatest } from '../on-latest.ts';
import { signalExecution } from './contract.ts';

export interface SignalDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>;
  readonly clock: Clock;
  readonly cluster: Pick<Cluster, 'executions'>;
}

export function createSignalRoute({ kube, clock, cluster }: SignalDeps): Route<Caller> {
  return defineRoute<typeof signalExecution, Caller>(signalExecution, async ({ params, body, caller }) => {
    const known = await findExecution(cluster.executions, caller, params.execution_id);
    const at = new Date(clock.now()).toISOString();
    const decision = { ...body, by: caller.subject, at, via: 'api' } as const;
    await onLatest(kube, known, (execution: WorkflowExecution) => commitDecision(kube, execution, decision));
    return json({ status: 'signaled' });
  });
}
