import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import { defined } from '../../../lib/defined.ts';
import { least } from '../../../lib/least.ts';
import { render } from '../../../lib/template/render.ts';
import { createScope } from '../../../lib/template/scope.ts';
import { callerOf } from '../caller-of.ts';
import type { ConversationDeps } from './conversation-deps.ts';
import type { DriversDeps } from '../drivers/drivers-deps.ts';
import { Stopped } from './log.ts';
import { inputBytesOf } from '../drivers/outcome.ts';

/** The first two messages of a conversation: the instruction and the task. */
function renderTask({ metadata, spec: asked }: AgentExecution, spec: AgentSpec) {
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

/**
 * Everything that one conversation is driven with, from the execution as the cluster has it.
 * @throws Stopped where the execution is gone; AppError where its definition is, or its instruction cannot be rendered.
 */
export async function conversationOf(
  deps: DriversDeps,
  execution: AgentExecution,
  parts: Pick<ConversationDeps, 'log' | 'channel' | 'tell' | 'giveUp' | 'outliving'>,
): Promise<ConversationDeps> {
  const { admission, approvals, bus, calls, clock, judges, logger, models, toolbox, registered } = deps;
  const { executions, sessions, tenants, definitionOf } = deps;
  const whole = await executions.whole(execution);
  if (whole === undefined) throw new Stopped();
  const definition = await definitionOf(whole);
  const { security } = definition;
  const spec = bounded(definition.spec, whole.spec);
  const { metadata, status } = whole;
  return {
    ...parts,
    admission,
    sessions,
    events: bus,
    calls,
    clock,
    logger: logger.child({ namespace: metadata.namespace, execution: metadata.name, uid: metadata.uid }),
    models,
    toolbox,
    registered,
    task: { ...renderTask(whole, spec), version: status?.agent?.version ?? '' },
    execution,
    inputBytes: inputBytesOf(whole),
    approvals,
    judges,
    caller: callerOf(whole, { tenant: tenants.tenantOf(metadata.namespace ?? '') ?? '', spec, security }),
  };
}

/** The definition with the lower one of two bounds each: its own, and that of the execution. */
function bounded(spec: AgentSpec, { max_tokens, max_cost_usd }: AgentExecution['spec']): AgentSpec {
  const own = spec.execution;
  return {
    ...spec,
    execution: {
      ...own,
      ...defined({
        max_tokens: least(own?.max_tokens, max_tokens),
        max_cost_usd: least(own?.max_cost_usd, max_cost_usd),
      }),
    },
  };
}
