import { labels } from '../../../crds/labels.ts';
import { cliToolWorkflowNamePattern, fileToolWorkflowNamePattern } from '../../../crds/reserved-names.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Caller } from '../../../lib/identity/caller.ts';

const ofTools = new RegExp(`${fileToolWorkflowNamePattern}|${cliToolWorkflowNamePattern}`);

/**
 * Whether a caller sees the execution. Those of file tools and CLI tools hold the requests and answers of one agent
 * under its own policy. Another one, whose policy may deny the file or the tool, does not read it in the execution (ADR
 * 0115). People see all.
 */
export function isShown(
  { metadata, spec, status }: Pick<WorkflowExecution, 'metadata' | 'spec' | 'status'>,
  { callingExecution, seesHelpers }: Pick<Caller, 'callingExecution' | 'seesHelpers'>,
): boolean {
  if (callingExecution === undefined || seesHelpers === true) return true;
  // A row of the archive has no label of the name, and an execution that has not begun no status of it.
  const names = [spec.workflow, metadata.labels?.[labels.workflow], status?.workflow?.name];
  return !names.some((name) => name !== undefined && ofTools.test(name));
}
