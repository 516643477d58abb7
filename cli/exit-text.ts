import type { Visit, WorkflowExecutionStatus } from '../crds/schema/workflow-execution-status.ts';
import { entryOf, fieldsOf, outputOf } from '../lib/execution/blackboard-entry.ts';

/** `exit 0`, or `unit 0, lint 1` of parallel steps; empty for a visit without a command. */
export function exitText(status: WorkflowExecutionStatus, visit: Visit): string {
  const output = outputOf(entryOf(status, visit));
  if (output === undefined) return '';
  if (typeof output['exit_code'] === 'number') return `exit ${output['exit_code']}`;
  if (visit.kind !== 'ParallelContainerRun') return '';
  return Object.entries(output)
    .flatMap(([step, result]) => {
      const code = fieldsOf(result)?.['exit_code'];
      return typeof code === 'number' ? [`${step} ${code}`] : [];
    })
    .join(', ');
}
