import type { Json } from '../crds/schema/parts.ts';
import type { StoredValue, Visit, WorkflowExecutionStatus } from '../crds/schema/workflow-execution-status.ts';

type Fields = Readonly<Record<string, Json>>;

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

/** The Blackboard entry that a visit wrote: its own where a later visit replaced it, else the state's. */
export function entryOf(
  status: WorkflowExecutionStatus,
  visit: Pick<Visit, 'state' | 'output'>,
): StoredValue | undefined {
  return visit.output ?? status.blackboard?.[visit.state];
}

/** The part of a Blackboard entry that holds streams and exit code, or the steps that do. */
export function outputOf(entry: StoredValue | undefined): Fields | undefined {
  const fields = fieldsOf(entry?.value);
  return fieldsOf(fields?.['output']) ?? fields;
}

/** The value as an object, or undefined. */
export function fieldsOf(value: Json | undefined): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}
