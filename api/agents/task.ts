import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { render } from '../../lib/template/render.ts';
import { createScope } from '../../lib/template/scope.ts';

/** The first two messages of a conversation: the instruction and the task. */
export function renderTask({ metadata, spec: asked }: AgentExecution, spec: AgentSpec) {
  const { input, intent } = asked;
  const scope = createScope({
    ...(intent === undefined ? {} : { intent }),
    input,
    workflow: {},
    blackboard: {},
    execution: { id: metadata.uid ?? '' },
    stateNames: [],
    completedStates: [],
  });
  const rendered = render(spec.task.instruction, scope);
  const system = rendered.kind === 'rendered' ? rendered.text : spec.task.instruction;
  return { system: withSchema(system, spec), input: input ?? intent ?? 'Begin.' };
}

/** Not every provider can hold a model to a schema. */
function withSchema(system: string, { output_schema: schema }: AgentSpec): string {
  if (schema === undefined) return system;
  return `${system}\n\nAnswer with one JSON value that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
}
