import type { StateOf } from '../../../crds/schema/state.ts';
import { isTerminal } from '../../../lib/execution/finished.ts';
import { lateFailure, stopping, timeoutFailure } from '../engine/deadline.ts';
import { type Draft, LackingFacts } from '../engine/draft.ts';
import type { Failure, Made, ToolCallFact } from '../engine/facts.ts';
import { toolCallName } from '../engine/names.ts';
import { noOutput, noResult } from '../../step-pods/step.ts';
import { containerResult, type VisitOutcome, withTwins } from '../engine/state-handler.ts';
import { type CurrentVisit, patched } from '../engine/reduce.ts';
import { childNeverStarted, noteStart, notMadeCause, showWaiting } from '../engine/starting.ts';
import { after, type VisitUpdate } from '../engine/state-handler.ts';
import { findToolCall, noReplica, toolCallPlan, toolCallWaiting } from '../engine/tool-calls.ts';
import { restOn } from '../engine/rest-on.ts';

/** Calls one tool within a SecurityContext, as a ToolCall that a replica of the API runs (ADR 0096). */
export function callTool(draft: Draft, state: StateOf<'System'>, current: CurrentVisit): VisitUpdate {
  // As it was written down: another version of the engine may make another name of the same state and visit.
  const name = current.child?.name ?? toolCallName(draft.facts.execution, current);
  const found = findToolCall(draft, current);
  if (found === undefined) return absent(draft, state, current, name);
  if (isTerminal(found)) return { outcome: ended(current, found) };
  if (stopping(draft, current)) return failed(lateness(draft, current, found));
  return after({ child: { name: found.name, uid: found.uid } }, awaitEnd(draft, current, found));
}

/** One that was made and is gone was deleted; another one might do its work twice. */
function absent(draft: Draft, state: StateOf<'System'>, current: CurrentVisit, name: string): VisitUpdate {
  const uid = current.child?.uid ?? draft.facts.made?.get(name);
  if (uid === undefined) return start(draft, state, current, name);
  restOn(draft, callOf(current, name));
  const message = `tool call ${name} was deleted before its answer was read; whether the tool ran is not known`;
  return failed({ reason: 'OutcomeUnknown', message });
}

function start(draft: Draft, state: StateOf<'System'>, current: CurrentVisit, name: string): VisitUpdate {
  const { blocked } = draft.facts;
  const cause = notMadeCause(draft);
  const made = callOf(current, name);
  if (stopping(draft, current)) return failed(lateFailure(draft, current, made, cause));
  if (blocked?.child === name && current.child?.name === name)
    return failed({ reason: 'Refused', message: `tool call ${name} was refused: ${blocked.message}` });
  const plan = toolCallPlan(draft, state, current);
  if ('failure' in plan) return failed(plan.failure);
  const late = childNeverStarted(draft, current, made, cause);
  if (late !== undefined) return failed(late);
  draft.act({ kind: 'create_tool_call', name, spec: plan.spec });
  return { change: { child: { name }, ...showWaiting(draft, current, [toolCallWaiting(draft, current)]) } };
}

function awaitEnd(draft: Draft, current: CurrentVisit, found: ToolCallFact): VisitUpdate {
  const waiting = showWaiting(draft, current, [toolCallWaiting(draft, current, found)]);
  const visit = patched(current, waiting);
  const change = { ...waiting, ...noteStart(draft, visit, found.startedAt) };
  if (found.startedAt !== undefined) return { change };
  const late = childNeverStarted(draft, visit, callOf(current, found.name), noReplica(found));
  return late === undefined ? { change } : failed(late);
}

function lateness(draft: Draft, current: CurrentVisit, found: ToolCallFact): Failure {
  const cause = found.startedAt === undefined ? noReplica(found) : undefined;
  return lateFailure(draft, current, callOf(current, found.name), cause);
}

const callOf = ({ state, visit }: CurrentVisit, name: string) =>
  ({ of: 'tool_call', name, by: { state, visit } }) as const satisfies Made;

/** An answer is the output of a command: on `stdout`, or on `stderr` where the tool says that it failed. */
function ended(current: CurrentVisit, found: ToolCallFact): VisitOutcome {
  if (found.answer === undefined) throw new LackingFacts([{ kind: 'tool_call', uid: found.uid }]);
  const { content, truncated } = found.answer;
  const durationMs = Math.max(0, (found.endedAt ?? 0) - (found.startedAt ?? found.endedAt ?? 0));
  const failure = failureOf(current, found);
  if (failure === undefined) {
    const output = { ...noOutput, exitCode: 0, stdout: content, stdoutTruncated: truncated, durationMs };
    return { exitCode: 0, entry: withTwins('success', containerResult(output)) };
  }
  const hasAnswered = failure.reason === 'ToolFailed';
  const streams = { stderr: content, stderrTruncated: truncated, durationMs };
  const output = { ...noResult(failure), ...streams, exitCode: hasAnswered ? 1 : -1 };
  return { exitCode: output.exitCode, failure, entry: withTwins('failed', containerResult(output)) };
}

const reasons = new Set(['ToolFailed', 'ToolRefused', 'OutcomeUnknown', 'ToolUnavailable'] as const);
type KnownReason = typeof reasons extends Set<infer Reason> ? Reason : never;
const isKnown = (reason: string): reason is KnownReason => (reasons as ReadonlySet<string>).has(reason);

function failureOf(current: CurrentVisit, { name, phase, why }: ToolCallFact): Failure | undefined {
  if (phase === 'completed') return undefined;
  if (why?.reason === 'Timeout') return timeoutFailure(current);
  const { reason = phase, message = '' } = why ?? {};
  const text = `tool call ${name}: ${message || reason}`;
  // A call that was cancelled by another hand than that of this execution may have done a part of its work.
  return { reason: isKnown(reason) ? reason : 'OutcomeUnknown', message: text };
}

const failed = (failure: Failure): VisitUpdate => ({
  outcome: { exitCode: -1, failure, entry: withTwins('failed', containerResult(noResult(failure))) },
});
