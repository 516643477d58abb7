import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { stripNotes } from '../informer/index.ts';
import { finished } from './finished.ts';

/**
 * Keeps of an execution that has ended only what a list shows, and which answer came last: a cluster may have thousands
 * of them.
 */
export function stripFinished(execution: WorkflowExecution): WorkflowExecution {
  const stripped = stripNotes(execution);
  if (!finished(stripped) || stripped.status === undefined) return stripped;
  const { input: _input, blackboard: _seed, signals = [], ...spec } = stripped.spec;
  const { blackboard: _board, history: _history, final_output: _output, ...status } = stripped.status;
  const last = signals
    .slice(-1)
    .map(({ feedback: _feedback, note: _note, ...signal }) => ({ ...signal, response: '' }));
  return { ...stripped, spec: last.length === 0 ? spec : { ...spec, signals: last }, status };
}
