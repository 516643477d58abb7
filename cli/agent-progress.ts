/** One event of a conversation: a single key, its kind, and its fields. */
export type ConversationEvent = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** How a conversation ended. */
export interface ConversationEnd {
  readonly phase: string;
  readonly output?: string;
  readonly message?: string;
}

type Line = (fields: Readonly<Record<string, unknown>>) => string | undefined;

const text = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const widthMax = 200;

/** The first line of a text, as far as it fits. */
function brief(value: unknown): string {
  const [line = ''] = text(value).split('\n', 1);
  return line.length > widthMax ? `${line.slice(0, widthMax)}…` : line;
}

const lines: Readonly<Record<string, Line>> = {
  started: ({ agent, version, model }) => `agent ${text(agent)} ${text(version)} started on model ${text(model)}`,
  iteration_started: ({ iteration, action }) => `iteration ${text(iteration)}: ${brief(action)}`,
  call_judged: ({ allowed, reason }) =>
    allowed === true ? undefined : `  call refused by the judge: ${brief(reason)}`,
  approval_asked: ({ tool, until }) => `  ${text(tool)} waits for approval until ${text(until)}`,
  approval_given: ({ approved, by, feedback }) => approvalLine(approved === true, by, feedback),
  tool_started: ({ tool, arguments: given }) => `  ${text(tool)} ${brief(given)}`,
  tool_ended: ({ tool, content, is_error: isError }) =>
    `  ${text(tool)} ${isError === true ? 'failed' : 'answered'}: ${brief(content)}`,
  iteration_judged: ({ score, feedback }) => `  judged ${text(score)}: ${brief(feedback)}`,
  iteration_completed: ({ iteration, output }) => `iteration ${text(iteration)} answered: ${brief(output)}`,
};

function approvalLine(isApproved: boolean, by: unknown, feedback: unknown): string {
  if (by === undefined) return '  call not approved in time';
  const why = feedback === undefined ? '' : `: ${brief(feedback)}`;
  return `  call ${isApproved ? 'approved' : 'rejected'} by ${text(by)}${why}`;
}

/** The line that shows an event to a person; undefined for events that only programs need. */
export function progressLine(event: ConversationEvent): string | undefined {
  const [[kind, fields] = ['', {}]] = Object.entries(event);
  return Object.hasOwn(lines, kind) ? lines[kind]?.(fields) : undefined;
}

/** How it ended, where the event tells of that. */
export function endOf({ ended, closed }: ConversationEvent): ConversationEnd | undefined {
  const end = ended?.['result'] ?? closed;
  if (end === undefined || typeof end !== 'object' || end === null) return undefined;
  const { phase, output, message } = end as Readonly<Record<string, unknown>>;
  return {
    phase: text(phase),
    ...(typeof output === 'string' && { output }),
    ...(typeof message === 'string' && { message }),
  };
}
