import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import { stripManagedFields } from '../../lib/informer/index.ts';
import type { KubeObject } from '../../lib/kube/index.ts';

/** What kubectl notes for itself: a copy of the whole object. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

export function stripWorkflow(workflow: Workflow): Workflow {
  return stripNotes(workflow);
}

/**
 * Of an execution that has ended only what a list shows is kept; thousands of them are there. `WholeExecutions` gives
 * the rest.
 */
export function stripExecution(execution: WorkflowExecution): WorkflowExecution {
  const stripped = stripNotes(execution);
  if (!finished(stripped) || stripped.status === undefined) return stripped;
  const { input: _input, blackboard: _seed, signals: _signals, ...spec } = stripped.spec;
  const { blackboard: _board, history: _history, final_output: _output, ...status } = stripped.status;
  return { ...stripped, spec, status };
}

function stripNotes<T extends KubeObject>(object: T): T {
  const stripped = stripManagedFields(object);
  if (stripped.metadata.annotations?.[lastApplied] === undefined) return stripped;
  const { [lastApplied]: _, ...annotations } = stripped.metadata.annotations;
  return { ...stripped, metadata: { ...stripped.metadata, annotations } };
}
