import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { BlobRef, StoredValue } from '../../crds/schema/workflow-execution-status.ts';

/** A value in the output store. */
export type Part = Pick<BlobRef, 'ref' | 'bytes' | 'encoding'>;

/**
 * Every value of an execution in the output store, each once, ordered by its value to a reader: first
 * the final output, then the Blackboard, then what earlier visits left.
 */
export function partsOf({ status }: WorkflowExecution): readonly Part[] {
  if (status === undefined) return [];
  const refs = [
    ...(status.final_output_ref === undefined ? [] : [status.final_output_ref]),
    ...Object.values(status.blackboard ?? {}).flatMap(refsOf),
    ...[status.feedback, status.human_feedback].flatMap(refsOf),
    ...[status.current?.prompt_ref, status.interrupted?.prompt_ref].filter((ref) => ref !== undefined),
    ...Object.values(status.interrupted?.steps ?? {}).flatMap(({ result }) => refsOf(result)),
    ...(status.history ?? []).toReversed().flatMap(({ output }) => refsOf(output)),
  ];
  const byRef = new Map(refs.map(({ ref, bytes, encoding }) => [ref, { ref, bytes, encoding }]));
  return [...byRef.values()];
}

const refsOf = (stored: StoredValue | undefined): readonly BlobRef[] => stored?.refs ?? [];
