import { annotations } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import type { ToolCallSpec } from '../../../crds/schema/tool-call.ts';
import { callToolProblems } from '../../../lib/definition/check-call-tool.ts';
import { isJsonObject } from '../../../lib/json-object.ts';
import { storedBytes } from '../../../lib/kube/stored-bytes.ts';
import { parseJson } from '../../../lib/work/parse-json.ts';
import type { Draft } from './draft.ts';
import type { Failure, ToolCallFact, Waiting } from './facts.ts';
import type { CurrentVisit } from './reduce.ts';
import { renderText, templateScope } from './scope.ts';

/** The ToolCall of a visit. Its name says nothing: another user may have taken the expected one. */
export const findToolCall = ({ facts }: Draft, { state, visit }: CurrentVisit): ToolCallFact | undefined =>
  facts.toolCalls?.find(({ madeBy }) => madeBy.state === state && madeBy.visit === visit);

/** The call to make, or the reason against one. */
type ToolCallPlan = { readonly spec: ToolCallSpec } | { readonly failure: Failure };

/**
 * Renders the call of a System state `call_tool` (ADR 0096). The names of tool and context are the author's alone; a value
 * of the execution is in the arguments only.
 */
export function toolCallPlan(draft: Draft, state: StateOf<'System'>, current: CurrentVisit): ToolCallPlan {
  const { env = {} } = state;
  const [problem] = callToolProblems(env);
  if (problem !== undefined) return invalid(current, `${problem.field} ${problem.message}`);
  const given = argumentsOf(draft, env['arguments'] ?? '{}');
  if (given === undefined)
    return invalid(current, 'arguments are not the JSON text of one object when they are rendered');
  const tooLarge = sizeProblem(given);
  if (tooLarge !== undefined) return invalid(current, `${tooLarge}; pass a reference in their place`);
  const { tool = '', security_context } = env;
  return {
    spec: {
      tool,
      arguments: given,
      ...(security_context === undefined ? {} : { security_context }),
      subject: subjectOf(draft),
      timeout: state.timeout ?? limits.stateTimeoutDefault,
      parent: parentOf(draft, current),
    },
  };
}

/** The object of the call must have room for the answer, and `<` is stored in six bytes. */
function sizeProblem(given: string): string | undefined {
  const { toolCallArgumentsBytes: most, toolCallArgumentsStoredBytes: mostStored } = limits;
  const bytes = Buffer.byteLength(given);
  if (bytes > most) return `arguments have ${bytes} bytes and a call takes ${most}`;
  const stored = storedBytes(given);
  if (stored <= mostStored) return undefined;
  return `arguments have ${stored} bytes when they are stored and a call takes ${mostStored}; each <, > and & has six`;
}

const invalid = ({ state }: CurrentVisit, problem: string): { readonly failure: Failure } => ({
  failure: { reason: 'InvalidToolCall', message: `state ${state}: ${problem}` },
});

/**
 * Where the text is JSON as it is written, each text in it is a template of its own, so that no value changes the form of the
 * arguments. Any other text is rendered as a whole.
 */
function argumentsOf(draft: Draft, source: string): string | undefined {
  const written = parseJson(source, draft.work)?.value;
  if (isJsonObject(written)) {
    const scope = templateScope(draft);
    return JSON.stringify(rendered(written, (text) => renderText(draft, text, scope)));
  }
  const text = renderText(draft, source);
  return isJsonObject(parseJson(text, draft.work)?.value) ? text : undefined;
}

/** As deep as `parseJson` allows. */
function rendered(value: unknown, render: (text: string) => string): unknown {
  if (typeof value === 'string') return render(value);
  if (Array.isArray(value)) return value.map((item: unknown) => rendered(item, render));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, rendered(child, render)]));
}

const subjectLength = 512;

/** The API alone says who started an execution; one without a starter acts for its workflow. */
function subjectOf({ facts: { execution, workflow } }: Draft): string {
  const name = workflow.kind === 'found' ? workflow.definition.name : execution.spec.workflow;
  return (execution.metadata.annotations?.[annotations.startedBy] ?? `workflow:${name}`).slice(0, subjectLength);
}

function parentOf({ facts }: Draft, { state, visit }: CurrentVisit): ToolCallSpec['parent'] {
  const { name, uid = '' } = facts.execution.metadata;
  return { name, uid, state, visit };
}

/** How long a call may wait for a replica before the state says so, in milliseconds. */
const showsAfterMs = 10_000;

/** The condition that a call waits for. */
export function toolCallWaiting(
  draft: Draft,
  { entered_at: since }: CurrentVisit,
  call?: ToolCallFact,
): Waiting | undefined {
  if (call === undefined) {
    const { blocked } = draft.facts;
    return blocked && { reason: blocked.reason, message: blocked.message, since: 0 };
  }
  if (call.phase !== 'pending') return undefined;
  return { reason: 'WaitingForTool', message: noReplica(call), since: Date.parse(since) + showsAfterMs };
}

export const noReplica = ({ name }: ToolCallFact): string =>
  `no replica of the API has taken the tool call ${name}; the API and its event bus must run`;
