import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import { createSoundMessages } from '../../../lib/conversation/sound-calls.ts';
import { defined } from '../../../lib/defined.ts';
import { least } from '../../../lib/least.ts';
import { render } from '../../../lib/template/render.ts';
import { createScope } from '../../../lib/template/scope.ts';
import { callerOf } from '../caller-of.ts';
import { mayPass } from '../../../lib/kube/index.ts';
import { repeatable } from '../calls/repeatable.ts';
import type { AgentCaller } from '../registered/index.ts';
import { underPresentContext } from './context-return.ts';
import type { ConversationDeps } from './conversation-deps.ts';
import type { DriversDeps } from '../drivers/drivers-deps.ts';
import { Stopped } from './log.ts';
import { patiently } from './patiently.ts';
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
  parts: Pick<
    ConversationDeps,
    'log' | 'channel' | 'tell' | 'giveUp' | 'outliving' | 'holdList' | 'holdCall' | 'onWait'
  >,
): Promise<ConversationDeps> {
  const { clock, executions, definitionOf } = deps;
  const whole = await executions.whole(execution);
  if (whole === undefined) throw new Stopped();
  const { metadata, status } = whole;
  const logger = deps.logger.child({ namespace: metadata.namespace, execution: metadata.name, uid: metadata.uid });
  const within = { clock, logger, signal: parts.giveUp };
  const definition = await underPresentContext(within, () => definitionOf(whole));
  const spec = bounded(definition.spec, whole.spec);
  const { tenant } = parts.log;
  const bounds = createBounds(callerOf(whole, { tenant, spec, security: definition.security }), (signal, anew) =>
    repeatable(parts, signal, (until) =>
      patiently({ clock, logger, signal: until, mayPass }, () => definitionOf(execution, anew)),
    ),
  );
  return {
    ...servicesOf(deps),
    ...parts,
    get caller() {
      return bounds.caller;
    },
    callerNow: bounds.renewed,
    soundOf: createSoundMessages(),
    logger,
    task: { ...renderTask(whole, spec), version: status?.agent?.version ?? '' },
    execution,
    inputBytes: inputBytesOf(whole),
  };
}

function servicesOf({ bus, ...deps }: DriversDeps) {
  const { admission, approvals, calls, clock, judges, models, registered, sessions, toolbox } = deps;
  return { admission, approvals, calls, clock, events: bus, judges, models, registered, sessions, toolbox };
}

/** A caller whose SecurityContext may change: `renewed` reads it, and `caller` has what was read last. */
function createBounds(
  first: AgentCaller,
  read: (signal: AbortSignal, anew?: 'anew') => Promise<Pick<AgentCaller, 'security'>>,
) {
  let caller = first;
  return {
    get caller() {
      return caller;
    },
    async renewed(this: void, signal: AbortSignal, anew?: 'anew'): Promise<AgentCaller> {
      const { security } = await read(signal, anew);
      caller = { ...caller, security };
      return caller;
    },
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
