import type { Json } from '../../crds/schema/parts.ts';
import type { StoredValue, Visit, WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { isJsonObject } from '../json-object.ts';

type Fields = Readonly<Record<string, Json>>;

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
  return isJsonObject(value) ? value : undefined;
}
