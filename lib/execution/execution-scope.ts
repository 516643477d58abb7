import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createScope, type Scope } from '../template/scope.ts';

/** Results of the states of an execution, as templates see them; values may be LargeValue. */
export interface ScopeValues {
  readonly blackboard: Readonly<Record<string, unknown>>;
  readonly feedback: unknown;
  /** Undefined until a person has answered. */
  readonly humanFeedback: unknown;
}

/** Everything that templates and expressions of an execution may name (spec 1 §2.6, "Template variables"). */
export function executionScope(
  { metadata, spec }: Pick<WorkflowExecution, 'metadata' | 'spec'>,
  workflow: Pick<WorkflowSpec, 'states' | 'storage' | 'context'>,
  { blackboard, feedback, humanFeedback }: ScopeValues,
): Scope {
  const stateNames = Object.keys(workflow.states);
  return createScope({
    ...(spec.intent === undefined ? {} : { intent: spec.intent }),
    input: spec.input ?? {},
    workflow: { context: workflow.context ?? {}, storage: storageOf(workflow) },
    blackboard,
    state: { feedback: feedback ?? '' },
    human: humanFeedback === undefined ? {} : { feedback: humanFeedback },
    execution: { id: metadata.uid ?? '' },
    stateNames,
    completedStates: stateNames.filter((name) => Object.hasOwn(blackboard, name)),
  });
}

/** Volumes by what templates call them (spec 1 §2.6, "Workflow storage"). */
function storageOf({ storage = {} }: Pick<WorkflowSpec, 'storage'>): object {
  const shared = storage.shared_volumes ?? [];
  return {
    ...(storage.workspace === undefined ? {} : { workspace: 'workspace' }),
    shared_volumes: Object.fromEntries(shared.map(({ name }) => [name, name])),
  };
}
