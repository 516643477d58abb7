import { labels } from '../../crds/labels.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createScope, type TemplateScope } from '../template/scope.ts';

/** Results of the states of an execution, as templates see them; values may be LargeValue. */
interface ScopeValues {
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
): TemplateScope {
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
    placeholders: !isToolCall(metadata),
  });
}

/**
 * Whether the execution is a call of a CLI tool: admission reserves the label for the tool gateway. Its caller knows no
 * state and no Blackboard, so an absent argument is empty, as in the chains of workflow tools (requirements AMB-129).
 */
const isToolCall = ({ labels: own }: WorkflowExecution['metadata']): boolean => own?.[labels.cliTool] !== undefined;

/** Volumes by what templates call them (spec 1 §2.6, "Workflow storage"). */
function storageOf({ storage = {} }: Pick<WorkflowSpec, 'storage'>): object {
  const shared = storage.shared_volumes ?? [];
  return {
    ...(storage.workspace === undefined ? {} : { workspace: 'workspace' }),
    shared_volumes: Object.fromEntries(shared.map(({ name }) => [name, name])),
  };
}
