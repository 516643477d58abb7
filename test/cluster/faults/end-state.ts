import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';

/** Fields that tell when something happened or which object it happened in: they differ between any two runs. */
const incidental = new Set([
  'duration_ms',
  'child_execution_id',
  'entered_at',
  'finished_at',
  'started_at',
  'at',
  'by',
  'id',
  'lastTransitionTime',
]);

/** A copy of any JSON value without incidental fields, keys sorted. */
function essence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essence);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !incidental.has(key));
  return Object.fromEntries(
    kept.toSorted(([a], [b]) => a.localeCompare(b)).map(([key, inner]) => [key, essence(inner)]),
  );
}

/** End state of a run: everything that must be the same in each run of the same workflow. */
export function endState({ status }: WorkflowExecution): unknown {
  const { phase, reason, state, transitions, visits, history, blackboard, final_output, final_output_ref } =
    status ?? {};
  return essence({
    phase,
    reason,
    state,
    transitions,
    visits,
    history,
    blackboard,
    final_output,
    final_output_ref,
    conditions: status?.conditions?.map((condition) => ({ ...condition, observedGeneration: undefined })),
  });
}
