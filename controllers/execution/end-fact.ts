import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import type { Fact } from '../runtime/facts.ts';

const endTypes: Readonly<Record<string, string>> = {
  completed: 'WorkflowExecutionCompleted',
  failed: 'WorkflowExecutionFailed',
  cancelled: 'WorkflowExecutionCancelled',
};

/** That an execution has ended, for the event bus; undefined while it has not. */
export function endFact(execution: WorkflowExecution): Fact | undefined {
  const { uid = '', namespace = '' } = execution.metadata;
  const type = endTypes[execution.status?.phase ?? ''];
  const time = execution.status?.finished_at;
  if (time === undefined || type === undefined) return undefined;
  return { word: 'ended', topic: 'workflow', type, subject: uid, namespace, time, data: endData(execution) };
}

/** No input and no output: who may read events need not be allowed to read those. */
function endData({ metadata, spec, status }: WorkflowExecution): Fact['data'] {
  const { workflow, reason, started_at, finished_at } = status ?? ({} as Partial<WorkflowExecutionStatus>);
  return {
    execution_id: metadata.uid,
    execution: metadata.name,
    namespace: metadata.namespace,
    workflow_id: workflow?.uid,
    workflow: workflow?.name ?? spec.workflow,
    version: workflow?.version,
    parent_execution_id: spec.parent?.uid,
    reason,
    started_at,
    finished_at,
  };
}
