import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { CliError } from '../exit-codes.ts';

/** What both doors say of an execution that goes while it is followed. */
export function deleted({ metadata }: WorkflowExecution): CliError {
  return new CliError('not_found', `execution ${metadata.name} was deleted`, 'List what there is: windlass list');
}
