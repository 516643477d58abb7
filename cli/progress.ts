import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import type { CurrentState, Visit, WorkflowExecutionStatus } from '../crds/schema/workflow-execution-status.ts';
import { succeeded } from '../lib/execution/finished.ts';
import { waitingFor } from '../lib/decision/human-decision.ts';
import { answerCommands } from './answer-commands.ts';
import { formatElapsed } from './duration.ts';
import { exitText } from './exit-text.ts';
import { printable } from './text-width.ts';

/**
 * The changes between two states of an execution, as lines that are only ever appended: time, then a sentence.
 * `before` is absent at the start; then the lines cover everything since the start. The same two states give the same
 * lines, whenever they are seen. `flags` follow the commands that are shown.
 */
export function progressLines(
  before: WorkflowExecution | undefined,
  after: WorkflowExecution,
  flags: string,
): string[] {
  const { status } = after;
  if (status === undefined) return [];
  const earlier = before?.status;
  return [
    ...startLine(earlier, after, status),
    ...visitLines(earlier, status),
    ...waitingLine(before, after, flags),
    ...endLine(earlier, after, status),
  ];
}

function startLine(
  earlier: WorkflowExecutionStatus | undefined,
  { metadata, spec }: WorkflowExecution,
  status: WorkflowExecutionStatus,
): string[] {
  if (earlier?.started_at !== undefined || status.started_at === undefined) return [];
  const workflow = status.workflow ? `${status.workflow.name} ${status.workflow.version}` : spec.workflow;
  return [line(status.started_at, `${metadata.name} started: workflow ${workflow}`)];
}

function visitLines(earlier: WorkflowExecutionStatus | undefined, status: WorkflowExecutionStatus): string[] {
  const known = earlier?.history?.length ?? 0;
  const news = (status.history ?? []).slice(known);
  const lines = news.map((visit) => line(visit.finished_at, finishedText(status, visit)));
  const open = status.current ?? status.interrupted;
  if (open === undefined || earlier?.finished_at !== undefined) return lines;
  return [...lines, ...currentLine(earlier, open), ...interruptedLine(open, status.finished_at)];
}

/** That the end of the execution cut a visit short. */
function interruptedLine({ state, entered_at: entered }: CurrentState, end: string | undefined): string[] {
  if (end === undefined) return [];
  return [line(end, `${state} interrupted after ${formatElapsed(Date.parse(end) - Date.parse(entered))}`)];
}

/** That a state was entered, or that a further attempt began. */
function currentLine(earlier: WorkflowExecutionStatus | undefined, current: CurrentState): string[] {
  const { state, kind, visit, attempt = 1 } = current;
  const before = earlier?.current;
  if (before?.state !== state || before.visit !== visit) {
    return [line(current.entered_at, `${state} (${kind}${visit > 1 ? `, visit ${visit}` : ''}) started`)];
  }
  if (attempt <= (before.attempt ?? 1)) return [];
  return [line(current.retry_at ?? current.entered_at, `${state} attempt ${attempt}`)];
}

function finishedText(status: WorkflowExecutionStatus, visit: Visit): string {
  const word = visit.status === 'success' ? 'succeeded' : 'failed';
  const elapsed = formatElapsed(Date.parse(visit.finished_at) - Date.parse(visit.entered_at));
  const answer = visit.signal ? `${visit.signal.response} by ${visit.signal.by}` : '';
  const why = visit.status === 'success' ? '' : [visit.reason, visit.message].filter(Boolean).join(': ');
  const facts = [exitText(status, visit), answer, why].filter(Boolean).map((text) => `, ${text}`);
  return `${visit.state} ${word} after ${elapsed}${facts.join('')}`;
}

/** The state that waits for a decision, if it did not wait in this visit before. */
export function newlyWaiting(before: WorkflowExecution | undefined, after: WorkflowExecution): string | undefined {
  const waiting = waitingFor(after);
  const already = before && waitingFor(before);
  return already?.state === waiting?.state && already?.visit === waiting?.visit ? undefined : waiting?.state;
}

function waitingLine(before: WorkflowExecution | undefined, after: WorkflowExecution, flags: string): string[] {
  const waiting = newlyWaiting(before, after);
  if (waiting === undefined) return [];
  const { prompt, entered_at: entered = '', answers = [] } = after.status?.current ?? {};
  const commands = answerCommands(`${after.metadata.name}${flags}`, answers).join(', or ');
  return [line(entered, `${waiting} waits for ${commands}${prompt ? `: ${prompt}` : ''}`)];
}

function endLine(
  earlier: WorkflowExecutionStatus | undefined,
  { metadata }: WorkflowExecution,
  status: WorkflowExecutionStatus,
): string[] {
  if (earlier?.finished_at !== undefined || status.finished_at === undefined) return [];
  const since = Date.parse(status.finished_at) - Date.parse(status.started_at ?? status.finished_at);
  const count = status.transitions ?? 0;
  const why = succeeded(status) ? '' : [status.reason, status.message].filter(Boolean).join(': ');
  const transitions = `${count} transition${count === 1 ? '' : 's'}`;
  const end = `${metadata.name} ${status.phase} after ${formatElapsed(since)}, ${transitions}`;
  return [line(status.finished_at, why ? `${end}, ${why}` : end)];
}

function line(at: string, text: string): string {
  return `${at.replace(/\.\d+(?=Z)/, '')} ${printable(text)}`;
}
