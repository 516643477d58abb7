/** An event of `/events`, or a record of a transcript by its kind. */
export interface ShownEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

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

const started: Line = ({ agent, version, model }) =>
  `agent ${text(agent)} ${text(version)} started on model ${text(model)}`;

/** An event counts iterations by `iteration_number`, a record by `iteration`. */
const lines: Readonly<Record<string, Line>> = {
  started,
  execution_started: started,
  iteration_started: ({ iteration, iteration_number: number = iteration, action }) =>
    `iteration ${text(number)}: ${brief(action)}`,
  call_judged: ({ allowed, reason }) =>
    allowed === true ? undefined : `  call refused by the judge: ${brief(reason)}`,
  approval_asked: ({ tool, until }) => `  ${text(tool)} waits for approval until ${text(until)}`,
  approval_given: ({ approved, by, feedback }) => approvalLine(approved === true, by, feedback),
  tool_started: ({ tool, arguments: given }) => `  ${text(tool)} ${brief(given)}`,
  tool_ended: ({ tool, content, is_error: isError }) =>
    `  ${text(tool)} ${isError === true ? 'failed' : 'answered'}: ${brief(content)}`,
  pod_said: ({ texts }) => `  the container says: ${brief(Array.isArray(texts) ? texts.join(' ') : texts)}`,
  iteration_judged: ({ score, feedback }) => `  judged ${text(score)}: ${brief(feedback)}`,
  iteration_completed: ({ iteration, iteration_number: number = iteration, output }) =>
    `iteration ${text(number)} answered: ${brief(output)}`,
};

function approvalLine(isApproved: boolean, by: unknown, feedback: unknown): string {
  if (by === undefined) return '  call not approved in time';
  const why = feedback === undefined ? '' : `: ${brief(feedback)}`;
  return `  call ${isApproved ? 'approved' : 'rejected'} by ${text(by)}${why}`;
}

/** The line that shows an event to a person; undefined for events that only programs need. */
export function progressLine({ type, data }: ShownEvent): string | undefined {
  return Object.hasOwn(lines, type) ? lines[type]?.(data) : undefined;
}

type End = (fields: Readonly<Record<string, unknown>>) => ConversationEnd;

const ends: Readonly<Record<string, End>> = {
  execution_completed: ({ final_output: output }) => end('completed', { output }),
  execution_failed: ({ error: message }) => end('failed', { message }),
  execution_cancelled: ({ reason: message }) => end('cancelled', { message }),
  execution_deleted: () => end('deleted', {}),
  ended: ({ result }) => {
    const { phase, ...texts } = (result ?? {}) as Readonly<Record<string, unknown>>;
    return end(text(phase), texts);
  },
};

function end(phase: string, { output, message }: Readonly<Record<string, unknown>>): ConversationEnd {
  return {
    phase,
    ...(typeof output === 'string' && { output }),
    ...(typeof message === 'string' && { message }),
  };
}

/** How the execution ended, where the event is an end. */
export function endOf({ type, data }: ShownEvent): ConversationEnd | undefined {
  return Object.hasOwn(ends, type) ? ends[type]?.(data) : undefined;
}
