import type { Signal, WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { AuditTrail } from '../../../../lib/bus/index.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { commitDecision } from '../../../../lib/decision/commit-decision.ts';
import type { Gate } from '../../../../lib/decision/gate.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import type { KubeClient } from '../../../../lib/kube/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { unmatchedReply } from '../../unmatched-response.ts';
import { findExecution } from '../find-execution.ts';
import { onLatest } from '../on-latest.ts';
import { signalExecution } from './contract.ts';

export interface SignalDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>;
  readonly clock: Clock;
  readonly cluster: Pick<Cluster, 'executions'>;
  readonly audit: AuditTrail;
  /** Holds an answer against the rules of its state. */
  readonly gate: Gate;
}

export function createSignalRoute({ kube, clock, cluster, audit, gate }: SignalDeps): Route<Caller> {
  return defineRoute<typeof signalExecution, Caller>(signalExecution, async (request) => {
    const { params, body, caller } = request;
    const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
    const known = await findExecution(cluster.executions, caller, params.execution_id, reserve);
    const at = new Date(clock.now()).toISOString();
    const decision = { ...body, by: caller.subject, at, via: 'api' } as const;
    const subject = known.metadata.uid ?? '';
    const tell = ({ id: act, state }: Signal, doneAt?: string): void =>
      audit.record({ type: 'ExecutionSignalled', by: caller, subject, act, doneAt, data: { state } });
    let latest = known;
    const decide = (execution: WorkflowExecution): Promise<Signal> => {
      latest = execution;
      return commitDecision(kube, execution, decision, gate);
    };
    try {
      tell(await onLatest(kube, known, decide));
    } catch (error) {
      for (const signal of signalsOf(latest, caller)) tell(signal, signal.at);
      throw unmatchedReply(error) ?? error;
    }
    return json({ status: 'signaled' });
  });
}

/** Existing answers of the caller: a refused one may repeat one whose answer was lost. */
function signalsOf({ spec }: WorkflowExecution, { subject }: Caller): Signal[] {
  return (spec.signals ?? []).filter(({ by, via }) => by === subject && via === 'api');
}
