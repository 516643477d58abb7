import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import type { CurrentState, Visit, WorkflowExecutionStatus } from '../crds/schema/workflow-execution-status.ts';
import { waitingFor } from '../lib/decision/human-decision.ts';
import { succeeded } from '../lib/execution/finished.ts';
import { answerCommands } from './answer-commands.ts';
import { formatElapsed } from './duration.ts';
import { exitText } from './exit-text.ts';
import { fitLine } from './fit-line.ts';
import { frameMs, frames } from './spinner.ts';
import { type Line, type Span, span, type Tone } from './terminal.ts';
import { padText, printable, textWidth } from './text-width.ts';

/** The room there is: nothing is cut where `columns` has no end; `rows` bounds the height by leaving out the oldest visits. */
interface ViewSize {
  readonly columns: number;
  readonly rows?: number;
  /** Follow the commands that are shown. */
  readonly flags: string;
}

/** Lines of a prompt that are shown in a terminal. */
const longestPrompt = 6;

/**
 * The whole execution at the moment `now` (milliseconds since the epoch): head line, one line a visit, what a person
 * is asked, and the reason of an end. Pure: the same execution at the same time gives the same lines.
 */
export function view(execution: WorkflowExecution, now: number, size: ViewSize): Line[] {
  const { status } = execution;
  const head = headLine(execution, now);
  if (status === undefined) return [head, [span('  waiting for the Windlass controller to pick it up', 'dim')]];
  const foot = footLines(execution, status, size);
  const visits = visitLines(status, now);
  const room = size.rows === undefined ? visits.length : Math.max(1, size.rows - foot.length - 3);
  const hidden = visits.length - room;
  const shown = hidden > 0 ? [[span(`  … ${hidden + 1} earlier visits`, 'dim')], ...visits.slice(hidden + 1)] : visits;
  return [head, ...shown, ...foot].map((line) => fitLine(line, size.columns));
}

function headLine(execution: WorkflowExecution, now: number): Line {
  const phase = execution.status?.phase ?? 'pending';
  return [
    span(execution.metadata.name, 'bold'),
    span(printable(`  ${workflowText(execution)}  `), 'dim'),
    lastStateFailed(execution.status)
      ? span(`${phase}, its last state failed`, 'bad')
      : span(phase, toneOfPhase[phase]),
    span(elapsedText(execution, now), 'dim'),
  ];
}

const lastStateFailed = (status: WorkflowExecutionStatus | undefined): boolean =>
  status?.phase === 'completed' && !succeeded(status);

function workflowText({ status, spec }: WorkflowExecution): string {
  const { name, version } = status?.workflow ?? { name: spec.workflow, version: spec.version };
  return version === undefined ? name : `${name} ${version}`;
}

function elapsedText({ status, metadata }: WorkflowExecution, now: number): string {
  const started = status?.started_at ?? metadata.creationTimestamp;
  if (started === undefined) return '';
  const ended = status?.finished_at === undefined ? now : Date.parse(status.finished_at);
  return `  ${formatElapsed(ended - Date.parse(started))}`;
}

const toneOfPhase = {
  pending: 'dim',
  running: 'busy',
  waiting: 'wait',
  completed: 'good',
  failed: 'bad',
  cancelled: 'wait',
} as const satisfies Record<WorkflowExecutionStatus['phase'], Tone>;

interface Row {
  readonly sign: Span;
  readonly state: string;
  readonly kind: string;
  readonly visit: number;
  readonly elapsed: string;
  readonly facts: readonly Span[];
}

function visitLines(status: WorkflowExecutionStatus, now: number): Line[] {
  const { current, interrupted, finished_at: end } = status;
  const rows = (status.history ?? []).map((visit) => finishedRow(status, visit));
  if (current && end === undefined) rows.push(currentRow(current, now));
  if (interrupted && end !== undefined) rows.push(interruptedRow(interrupted, Date.parse(end)));
  const states = Math.max(0, ...rows.map((row) => textWidth(row.state)));
  const kinds = Math.max(0, ...rows.map((row) => row.kind.length));
  const times = Math.max(0, ...rows.map((row) => row.elapsed.length));
  return rows.map((row) => [
    span('  '),
    row.sign,
    span(` ${padText(row.state, states)}  `),
    span(`${row.kind.padEnd(kinds)}  ${row.elapsed.padStart(times)}`, 'dim'),
    span(row.visit > 1 ? `  visit ${row.visit}` : '', 'busy'),
    ...row.facts,
  ]);
}

function finishedRow(status: WorkflowExecutionStatus, visit: Visit): Row {
  const good = visit.status === 'success';
  const facts = [exitText(status, visit), attemptsText(visit.attempts), reasonText(visit), signalText(visit)];
  return {
    sign: good ? span('✔', 'good') : span('✘', 'bad'),
    state: printable(visit.state),
    kind: visit.kind,
    visit: visit.visit,
    elapsed: formatElapsed(Date.parse(visit.finished_at) - Date.parse(visit.entered_at)),
    facts: [
      ...facts.filter((text) => text !== '').map((text) => span(`  ${printable(text)}`, good ? 'dim' : 'bad')),
      span(visit.target === undefined ? '' : `  → ${visit.target}`, 'dim'),
    ],
  };
}

function currentRow(current: CurrentState, now: number): Row {
  const entered = Date.parse(current.entered_at);
  const waits = current.kind === 'Human';
  const frame = frames[Math.floor(Math.max(0, now - entered) / frameMs) % frames.length] ?? '';
  return {
    sign: waits ? span('⏸', 'wait') : span(frame, 'busy'),
    state: printable(current.state),
    kind: current.kind,
    visit: current.visit,
    elapsed: formatElapsed(now - entered),
    facts: [...openSpans(current), span(deadlineText(current, now), 'dim')],
  };
}

/** The visit that the end of the execution cut short: by a cancellation, or because the whole had failed. */
function interruptedRow(visit: CurrentState, end: number): Row {
  return {
    ...currentRow(visit, end),
    sign: span('⊘', 'wait'),
    facts: [span('  interrupted', 'wait'), ...openSpans(visit)],
  };
}

function openSpans({ attempt = 1, child, steps = {}, waiting }: CurrentState): Span[] {
  return [
    span(waiting ? `  waits: ${printable(waiting.message)}` : '', 'wait'),
    span(attempt > 1 ? `  attempt ${attempt}` : '', 'wait'),
    span(child ? `  child ${child.name}` : '', 'dim'),
    ...Object.entries(steps).map(([name, { status }]) =>
      status === 'success' ? span(`  ✔ ${printable(name)}`, 'good') : span(`  ✘ ${printable(name)}`, 'bad'),
    ),
  ];
}

function deadlineText(current: CurrentState, now: number): string {
  if (current.retry_at && Date.parse(current.retry_at) > now) {
    return `  next attempt in ${formatElapsed(Date.parse(current.retry_at) - now)}`;
  }
  return current.deadline ? `  ${formatElapsed(Date.parse(current.deadline) - now)} left` : '';
}

function attemptsText(attempts: number | undefined): string {
  return attempts !== undefined && attempts > 1 ? `${attempts} attempts` : '';
}

function reasonText(visit: Visit): string {
  if (visit.reason === undefined || visit.reason === 'ExitCode') return '';
  return visit.message ? `${visit.reason}: ${visit.message}` : visit.reason;
}

function signalText(visit: Visit): string {
  return visit.signal ? `${visit.signal.response} by ${visit.signal.by}` : '';
}

function footLines(execution: WorkflowExecution, status: WorkflowExecutionStatus, size: ViewSize): Line[] {
  const warnings = (status.warnings ?? []).map((text) => [span(`  warning: ${printable(text)}`, 'wait')]);
  return [...promptLines(execution, status, size), ...reasonLines(status), ...warnings];
}

function promptLines(execution: WorkflowExecution, { current }: WorkflowExecutionStatus, size: ViewSize): Line[] {
  if (waitingFor(execution) === undefined) return [];
  const name = `${execution.metadata.name}${size.flags}`;
  const prompt = (current?.prompt ?? '').split(/\r?\n/);
  const room = size.columns === Number.POSITIVE_INFINITY ? prompt.length : longestPrompt;
  const more = prompt.length - room;
  return [
    [],
    ...prompt.slice(0, room).map((text) => [span(`    ${printable(text)}`, 'wait')]),
    ...(more > 0 ? [[span(`    … ${more} more lines`, 'dim')]] : []),
    ...(current?.prompt_ref ? [[span(`    the whole of it: windlass get ${name} --full -o yaml`, 'dim')]] : []),
    [],
    ...answerCommands(name, current?.answers ?? []).map((command) => [span(`    ${command}`, 'bold')]),
  ];
}

function reasonLines(status: WorkflowExecutionStatus): Line[] {
  const { phase, reason, message, current } = status;
  if (current?.signals_refused !== undefined) return [[span(`  ${printable(message ?? '')}`, 'wait')]];
  const isEnd = phase === 'failed' || phase === 'cancelled' || lastStateFailed(status);
  if (!isEnd && phase !== 'pending') return [];
  const why = [reason, message].filter(Boolean).join(': ');
  return why ? [[span(`  ${printable(why)}`, lastStateFailed(status) ? 'bad' : toneOfPhase[phase])]] : [];
}
