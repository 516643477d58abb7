import { limits } from '../../../crds/limits.ts';
import { WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import { createValidator } from '../../../crds/validators.ts';
import type { Failure } from './facts.ts';

/** Whether the API server would take a status. */
export const validateStatus = createValidator(WorkflowExecutionStatus, ['status']);

/** Why a status must not be written: it is too large, or the API server would refuse it. Undefined where nothing is wrong. */
export function statusProblem(status: WorkflowExecutionStatus): Failure | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(status));
  if (bytes > limits.statusBytes) {
    const message = `the status would have ${bytes} bytes and takes ${limits.statusBytes}; write fewer keys to the Blackboard`;
    return { reason: 'StatusTooLarge', message };
  }
  const [problem] = validateStatus(status);
  if (problem === undefined) return undefined;
  return { reason: 'Refused', message: `the status would break the schema: ${problem.path}: ${problem.message}` };
}
