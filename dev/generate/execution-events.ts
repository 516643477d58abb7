import { type EventType, eventFields, lastEvents } from '../../api/routes/executions/stream/event-schema.ts';
import { sourceOf } from '../../crds/source-schema.ts';
import { fieldTable } from './field-table.ts';

const ids: Readonly<Record<EventType, string>> = {
  workflow_execution_started: 'start',
  state_started: 'N.started',
  human_approval_requested: 'N.approval',
  state_retried: 'N.attempt.K',
  state_completed: 'N.completed',
  workflow_execution_completed: 'end',
  workflow_execution_failed: 'end',
  workflow_execution_cancelled: 'end',
  workflow_execution_deleted: 'end',
};

/** The page about the stream of an execution: what its events are, their ids, and how to come back. */
export function executionEventsPage(): string {
  return [
    '<!-- Generated from api/routes/executions/stream by "npm run generate". Change the sources there, not this file. -->',
    '# Events of an execution',
    opening,
    table(),
    idsText,
    '## Come back',
    comeBack,
    ...Object.entries(eventFields).flatMap(([type, schema]) => [
      `## ${type}`,
      sourceOf(schema).description ?? '',
      fieldTable(sourceOf(schema)),
    ]),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

const opening = `\`GET /v1/workflows/executions/{execution_id}/stream\` answers with server-sent events: all that has happened since the
beginning, then what happens, as it happens. Each event has an \`id:\` line and one \`data:\` line, a JSON object whose only
key is the type of the event:

\`\`\`
id: 1.started
data: {"state_started":{"execution_id":"a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22","state":"greet","visit":1,"kind":"ContainerRun","started_at":"2026-01-02T03:04:05.000Z"}}
\`\`\`

The stream ends after exactly one of ${lastEvents.map((type) => `\`${type}\``).join(', ')}. While nothing happens a
comment comes every 15 seconds. An id that is unknown, malformed or another tenant's is 404, before any stream begins.`;

function table(): string {
  const rows = Object.entries(eventFields).map(
    ([type, schema]) => `| \`${type}\` | \`${ids[type as EventType]}\` | ${sourceOf(schema).description} |`,
  );
  return ['| Event | id | When |', '|---|---|---|', ...rows].join('\n');
}

const idsText = `N counts the visits of states from 1, in the order in which they were entered; K counts the attempts of a command. An id
is the position of the event in the history of its execution, and nothing else. It is the same on every replica, before
and after a restart, and for a reader who comes after the end. So are the fields of an event, except those that only
the present state knows, which are marked below.`;

const comeBack = `Send the id of the last event that you have worked off as \`Last-Event-ID\`, to any replica. The stream
continues behind it, without a gap and without a repetition. Browsers and libraries for server-sent events do that by themselves.

- After \`end\` there is nothing more: the answer is 204, at which browsers and libraries stop.
- An id that this replica has not come to yet is taken all the same; it waits for what follows.
- A text that is not the id of an event is answered with 400, and so is the header sent twice. An empty one means: from the beginning.
- Events wait for a client that does not read. Where the unread events of a tenant take more than its share of memory, the stream
  that has waited longest is cut off. Its client can come back in the same way. A replica that stops ends its streams without an event
  that ends them: come back to another one.
- An execution is deleted some time after its end (\`ttl_seconds_after_finished\`); its stream is 404 from then on.`;
