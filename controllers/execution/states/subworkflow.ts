import { limits } from '../../../crds/limits.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import type { WorkflowExecutionSpec } from '../../../crds/schema/workflow-execution.ts';
import { cutWithMark } from '../../../lib/cut-text.ts';
import { isTerminal } from '../../../lib/execution/finished.ts';
import { isJsonObject } from '../../../lib/json-object.ts';
import { parseJson } from '../../../lib/work/parse-json.ts';
import { lateFailure, stopping } from '../engine/deadline.ts';
import { type Draft, LackingFacts } from '../engine/draft.ts';
import type { ChildFact, Failure, Made, PinnedDefinition } from '../engine/facts.ts';
import { inputProblem } from '../engine/input.ts';
import { lookUp } from '../engine/lacking.ts';
import { childName, rootOf } from '../engine/names.ts';
import { type VisitOutcome, after, type StateHandler, type VisitUpdate } from '../engine/state-handler.ts';
import { type CurrentVisit, unchanged } from '../engine/reduce.ts';
import { renderText } from '../engine/scope.ts';
import { childNeverStarted, notMadeCause, noteStart } from '../engine/starting.ts';
import { resolve } from '../engine/stored.ts';
import { restOn } from '../engine/rest-on.ts';

/** Runs another workflow as a child execution (spec 1 §2.6, kind Subworkflow). */
export const subworkflow: StateHandler<'Subworkflow'> = (draft, state, current) => {
  // As it was written down: another version of the engine may make another name of the same state and visit.
  const name = current.child?.name ?? childName(draft.facts.execution, current);
  const child = draft.facts.children.find((fact) => isChildOf(fact, current) ?? fact.name === name);
  if (child === undefined) return absent(draft, state, current, name);
  if (state.mode === 'fire_and_forget') return started(child.uid);
  if (isTerminal(child)) {
    if (child.isSlim === true) throw new LackingFacts([{ kind: 'child', uid: child.uid }]);
    return { outcome: ended(draft, state, child) };
  }
  if (stopping(draft, current)) return failed(lateness(draft, current, child), child.uid);
  return after({ child: { name: child.name, uid: child.uid } }, awaitEnd(draft, current, child));
};

const childOf = ({ state, visit }: CurrentVisit, name: string) =>
  ({ of: 'child', name, by: { state, visit } }) as const satisfies Made;

/** Undefined where the fact does not tell. */
const isChildOf = ({ madeBy }: ChildFact, { state, visit }: CurrentVisit): boolean | undefined =>
  madeBy === undefined ? undefined : madeBy.state === state && madeBy.visit === visit;

function lateness(draft: Draft, current: CurrentVisit, child: ChildFact): Failure {
  const hasBegun = child.phase !== 'pending' || child.startedAt !== undefined;
  return lateFailure(draft, current, childOf(current, child.name), hasBegun ? undefined : wordsOf(child));
}

const wordsOf = ({ name, failure, phase }: ChildFact): string =>
  `child ${name} says ${failure === undefined ? phase : `${failure.reason}: ${failure.message}`}`;

/** A child that has not started may wait for as long as the state's `queue_timeout` (requirements AMB-190). */
function awaitEnd(draft: Draft, current: CurrentVisit, child: ChildFact): VisitUpdate {
  if (child.startedAt !== undefined) return { change: noteStart(draft, current, child.startedAt) };
  const late = childNeverStarted(draft, current, childOf(current, child.name), wordsOf(child));
  return late === undefined ? { change: unchanged } : failed(late, child.uid);
}

/** Not made yet, or gone again: made once, whether this state has seen it or not. */
function absent(draft: Draft, state: StateOf<'Subworkflow'>, current: CurrentVisit, name: string): VisitUpdate {
  const uid = current.child?.uid ?? draft.facts.made?.get(name);
  if (uid === undefined) return start(draft, state, current, name);
  if (state.mode === 'fire_and_forget') return started(uid);
  restOn(draft, childOf(current, name));
  return gone({ name, uid });
}

function start(draft: Draft, state: StateOf<'Subworkflow'>, current: CurrentVisit, name: string): VisitUpdate {
  const made = childOf(current, name);
  if (stopping(draft, current)) return failed(lateFailure(draft, current, made, notMadeCause(draft)));
  const obstacle = refusalOf(draft, current, name) ?? excessOf(draft, state);
  if (obstacle !== undefined) return failed(obstacle);
  const lookup = lookUp(draft, state.workflow_id);
  if (lookup.kind === 'not_ready') {
    const late = childNeverStarted(draft, current, made, lookup.failure.message);
    return late === undefined ? { change: unchanged } : failed(late);
  }
  if (lookup.kind === 'absent') return failed(lookup.failure);
  const input = childInput(draft, state.input);
  const problem = inputProblem(lookup.definition.spec, input, draft.work);
  if (problem !== undefined) return failed({ reason: 'InvalidSubworkflowInput', message: problem });
  const late = notMadeFor(draft, current, made);
  if (late !== undefined) return failed(late);
  const owned = state.mode !== 'fire_and_forget';
  const spec = { ...childSpec(draft, current, input), ...versionOf(state.workflow_id, lookup.definition) };
  draft.act({ kind: 'create_child', name, owned, spec });
  return { change: { child: { name } } };
}

/** The API server will never take the child as it is. The name shows that this visit has tried. */
function refusalOf({ facts: { blocked } }: Draft, { child }: CurrentVisit, name: string): Failure | undefined {
  if (blocked?.child !== name || child?.name !== name) return undefined;
  return { reason: 'Refused', message: `child ${name} was refused: ${blocked.message}` };
}

/** A child that is not made, such as for want of room in a quota, is awaited for as long as one that does not start. */
const notMadeFor = (draft: Draft, current: CurrentVisit, made: Made): Failure | undefined =>
  childNeverStarted(draft, current, made, notMadeCause(draft));

/** The child looks for it anew, and knows no names of a user's own workflows; it runs the version that took its input. */
const versionOf = (name: string, { user, uid, version }: PinnedDefinition) => ({
  workflow: user === undefined ? name : uid,
  version,
});

function childSpec(
  draft: Draft,
  current: CurrentVisit,
  input: Record<string, Json>,
): Omit<WorkflowExecutionSpec, 'workflow' | 'version'> {
  const { metadata, spec } = draft.facts.execution;
  const root = rootOf(draft.facts.execution);
  return {
    input,
    ...(spec.intent === undefined ? {} : { intent: spec.intent }),
    parent: {
      name: metadata.name,
      uid: metadata.uid ?? '',
      state: current.state,
      visit: current.visit,
      // One that the root starts itself names it already.
      ...(root === metadata.uid ? {} : { root }),
      depth: (spec.parent?.depth ?? 0) + 1,
    },
  };
}

/** A rendered text that is a JSON object is the input; any other text is its `input` (requirements AMB-163). */
function childInput(draft: Draft, template: string | undefined): Record<string, Json> {
  if (template === undefined) return {};
  const text = renderText(draft, template);
  const value = parseJson(text, draft.work)?.value as Json | undefined;
  return isJsonObject(value) ? value : { input: text };
}

function excessOf({ facts }: Draft, state: StateOf<'Subworkflow'>): Failure | undefined {
  const depth = (facts.execution.spec.parent?.depth ?? 0) + 1;
  if (depth > limits.subworkflowDepthMax) return tooDeep(state);
  return (facts.descendants ?? 0) >= limits.descendantsMax ? tooMany(state) : undefined;
}

function tooDeep(state: StateOf<'Subworkflow'>): Failure {
  const message = `${state.workflow_id} would be nested more than ${limits.subworkflowDepthMax} levels deep`;
  return { reason: 'SubworkflowDepthExceeded', message };
}

function tooMany(state: StateOf<'Subworkflow'>): Failure {
  const message = `${state.workflow_id} would be one of more than ${limits.descendantsMax} executions that one has started`;
  return { reason: 'DescendantsExceeded', message };
}

const started = (childUid: string): VisitUpdate => ({
  outcome: { entry: twins({ status: 'success', child_execution_id: childUid }) },
});

function ended(draft: Draft, state: StateOf<'Subworkflow'>, child: ChildFact): VisitOutcome {
  const failed = childFailure(child);
  const status = failed.failure === undefined ? 'success' : 'failed';
  const entry = twins({ status, result: resolve(draft, child.result), child_execution_id: child.uid });
  const writes = state.result_key === undefined ? {} : { [state.result_key]: resolve(draft, child.blackboard) };
  return { entry, writes, ...failed };
}

/** Children may be ten levels deep: the message names the child, and the last of those that failed one for the other. */
function childFailure({ name, phase, failure }: ChildFact): Pick<VisitOutcome, 'failure' | 'cause'> {
  if (phase === 'completed' && failure === undefined) return {};
  const what = `child ${name} ${phase === 'cancelled' ? 'was cancelled' : 'failed'}`;
  if (failure === undefined) return { failure: { reason: 'SubworkflowFailed', message: what } };
  const { execution, reason, message } = failure.cause ?? { execution: name, ...failure };
  const cause = { execution, reason, message: cutWithMark(message, causeLength) };
  const where = execution === name ? '' : ` in execution ${execution}`;
  return { failure: { reason: 'SubworkflowFailed', message: `${what}: ${reason}${where}: ${cause.message}` }, cause };
}

/** Longest message of a cause, in characters: the names before it fit into the message of a status as well. */
const causeLength = 512;

/** A child that this state has seen and that is gone was deleted; another one would do the work twice. */
const gone = ({ name, uid }: { readonly name: string; readonly uid: string }): VisitUpdate =>
  failed({ reason: 'SubworkflowFailed', message: `child ${name} was deleted before it ended` }, uid);

const failed = (failure: Failure, childUid: string | null = null): VisitUpdate => ({
  outcome: { entry: twins({ status: 'failed', result: null, child_execution_id: childUid }), failure },
});

const twins = (output: Readonly<Record<string, unknown>>): unknown => ({ ...output, output });
