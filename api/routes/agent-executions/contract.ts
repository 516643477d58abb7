import { Type } from 'typebox';
import { limits } from '../../../crds/limits.ts';
import { agentPhases } from '../../../crds/schema/agent-execution.ts';
import { oneOf, timestamp } from '../../../crds/schema/parts.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { noArchive } from '../archived.ts';
import { beingDeleted } from '../being-deleted.ts';
import { unknownAgent, unknownExecution, unknownTenant, unknownVersion } from '../not-found.ts';
import { nextCursor, pageQuery, unknownCursor } from '../../../lib/http/paging.ts';
import { eventsExample, recordExample, streamExample, summaryExample, viewExample } from './examples.ts';
import {
  AgentEvent,
  AgentExecutionId,
  AgentExecutionSummary,
  AgentExecutionView,
  ConversationEvent,
  lastAgentEvents,
} from './schema.ts';

const tag = 'Agent executions';

const uuid = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

/** spec 1 §7.1. */
export const invalidAgentId = 'Invalid agent ID';
/** requirements AMB-028. */
const invalidInput = 'Invalid input';

/** spec 1 §4.2. */
export const startAgentExecution = defineContract({
  operationId: 'startAgentExecution',
  method: 'post',
  path: '/v1/executions',
  tag,
  summary: 'Start an agent',
  description:
    'Answers as soon as the execution exists; follow it by its stream. With an `Idempotency-Key` a request can be sent ' +
    'again without starting a second execution, for as long as the first one exists.',
  access: 'bearer',
  headers: Type.Object({
    'idempotency-key': Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.idempotencyKeyLength,
        description: 'Any text that this caller uses for this one start.',
      }),
    ),
  }),
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        agent_id: Type.String({ pattern: uuid, maxLength: 36, description: 'Id of the agent, a UUID.' }),
        input: Type.String({ maxLength: limits.agentInputLength, description: 'The task input.' }),
        intent: Type.Optional(
          Type.String({ maxLength: limits.templateLength, description: 'Natural-language purpose, {{intent}}.' }),
        ),
        version: Type.Optional(
          Type.String({ minLength: 1, maxLength: 128, description: 'A stored version; absent: the newest.' }),
        ),
      },
      { additionalProperties: false },
    ),
    example: { agent_id: summaryExample.agent_id, input: 'Review the change.' },
  },
  invalidFields: { agent_id: invalidAgentId, input: invalidInput },
  success: {
    kind: 'json',
    description: 'The execution exists and will run.',
    schema: Type.Object(
      { execution_id: Type.String({ format: 'uuid', description: 'Id of the execution.' }) },
      { additionalProperties: false },
    ),
    example: { execution_id: summaryExample.execution_id },
  },
  errors: [
    { status: 400, error: invalidAgentId, when: '`agent_id` is absent or no UUID.' },
    { status: 400, error: invalidInput, when: '`input` is absent, no text, or too long.' },
    unknownAgent,
    beingDeleted,
    { ...unknownVersion, when: 'The agent has no such version; `message` lists those it has.' },
    unknownTenant,
    {
      status: 500,
      error: '<message>',
      when: 'The execution failed to start: `error` says why, such as a definition that was refused, or a quota.',
    },
    {
      status: 422,
      error: 'idempotency_key_reused',
      when: 'The same key was used for another body, and that execution still exists.',
    },
    { status: 409, error: 'already_exists', when: 'Another caller has made an execution of the name of the key.' },
  ],
});

export const listAgentExecutions = defineContract({
  operationId: 'listAgentExecutions',
  method: 'get',
  path: '/v1/executions',
  tag,
  summary: 'List executions of agents',
  description: 'The newest first, those of one second by their ids. A cursor stays valid while executions come and go.',
  access: 'bearer',
  query: Type.Object(
    {
      agent: Type.Optional(
        Type.String({ minLength: 1, maxLength: 253, description: 'Only executions of this agent, by name or id.' }),
      ),
      status: Type.Optional(oneOf(agentPhases, { description: 'Only executions in this status.' })),
      archived: Type.Boolean({
        default: false,
        description:
          'List what the archive holds, the last to end first, also of executions that are gone. A page may then be ' +
          'short, or empty, and have a next one.',
      }),
      ...pageQuery('Executions'),
    },
    { additionalProperties: false },
  ),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      { executions: Type.Array(AgentExecutionSummary), next_cursor: nextCursor },
      { additionalProperties: false },
    ),
    example: { executions: [summaryExample], next_cursor: null },
  },
  errors: [unknownCursor, noArchive],
});

export const readAgentExecution = defineContract({
  operationId: 'readAgentExecution',
  method: 'get',
  path: '/v1/executions/{execution_id}',
  tag,
  summary: 'Read an execution of an agent',
  access: 'bearer',
  params: AgentExecutionId,
  success: { kind: 'json', description: 'The execution.', schema: AgentExecutionView, example: viewExample },
  errors: [unknownExecution],
});

export const cancelAgentExecution = defineContract({
  operationId: 'cancelAgentExecution',
  method: 'post',
  path: '/v1/executions/{execution_id}/cancel',
  tag,
  summary: 'Cancel an execution of an agent',
  description: 'Stops an execution and its pod. Cancelling again changes nothing; the first caller and time stay.',
  access: 'bearer',
  params: AgentExecutionId,
  body: {
    kind: 'json',
    required: false,
    schema: Type.Object(
      { reason: Type.Optional(Type.String({ maxLength: 1_024, description: 'Why.' })) },
      { additionalProperties: false },
    ),
    example: { reason: 'wrong branch' },
  },
  success: {
    kind: 'json',
    description: 'The execution is being stopped, or was cancelled before.',
    schema: Type.Object(
      {
        status: oneOf(['cancelling', 'cancelled'], { description: '`cancelling` until it has stopped.' }),
        by: Type.Optional(Type.String({ description: 'The user who cancelled it: you, or an earlier caller.' })),
        at: Type.Optional(timestamp({ description: 'When that was.' })),
      },
      { additionalProperties: false },
    ),
    example: { status: 'cancelling', by: 'ada', at: '2026-01-02T03:04:05.000Z' },
  },
  errors: [unknownExecution, { status: 409, error: 'conflict', when: 'The execution has completed or failed.' }],
});

export const deleteAgentExecution = defineContract({
  operationId: 'deleteAgentExecution',
  method: 'delete',
  path: '/v1/executions/{execution_id}',
  tag,
  summary: 'Delete an execution of an agent',
  description: 'Deletes an execution and its pod; this stops a running one.',
  access: 'bearer',
  params: AgentExecutionId,
  success: {
    kind: 'json',
    description:
      'The execution is deleted, or is being deleted while its record is written. `deleting`: a finalizer of others holds it.',
    schema: Type.Object({ status: oneOf(['deleted', 'deleting']) }, { additionalProperties: false }),
    example: { status: 'deleted' },
  },
  errors: [unknownExecution],
});

export const readAgentTranscript = defineContract({
  operationId: 'readAgentTranscript',
  method: 'get',
  path: '/v1/executions/{execution_id}/transcript',
  tag,
  summary: 'Read the conversation of an execution',
  description:
    'Every record of the conversation in its order, page by page: what the model was asked and said, tool calls, ' +
    'verdicts. Records are kept for a week, and as long as the archive keeps the execution. `next_cursor` is null on the last page, which may be empty.',
  access: 'bearer',
  params: AgentExecutionId,
  query: Type.Object({
    cursor: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}$',
        description: '`next_cursor` of the page before; absent: the beginning.',
      }),
    ),
  }),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      { records: Type.Array(Type.Record(Type.String(), Type.Unknown())), next_cursor: nextCursor },
      { additionalProperties: false },
    ),
    example: { records: [recordExample], next_cursor: null },
  },
  errors: [unknownExecution],
});

const lastEventId = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ maxLength: 64, description: 'The id of the last event that was received; empty: from the start.' }),
  ),
});
const badEventId = {
  status: 400,
  error: 'invalid_request',
  when: '`Last-Event-ID` is not the id of an event of an execution.',
};

/** spec 1 §4.2 and §6, requirements EXEC-06 to EXEC-13. */
export const streamAgentExecution = defineContract({
  operationId: 'streamAgentExecution',
  method: 'get',
  path: '/v1/executions/{execution_id}/stream',
  tag,
  summary: 'Follow an execution of an agent',
  description:
    'Server-sent events: everything that has happened from the beginning, then what happens, and at last exactly one ' +
    'event that ends the stream. Each `data:` line is one JSON object whose only key is the type of the event. With ' +
    '`Last-Event-ID` the stream continues there; behind the last one the answer is 204. An execution that was ' +
    'cancelled or failed before its agent began has the last event alone.',
  access: 'bearer',
  params: AgentExecutionId,
  headers: lastEventId,
  success: {
    kind: 'events',
    description: 'The events.',
    schema: AgentEvent,
    lastEvents: lastAgentEvents,
    example: streamExample,
  },
  errors: [unknownExecution, badEventId],
});

/** requirements EXEC-08. */
export const followAgentConversation = defineContract({
  operationId: 'followAgentConversation',
  method: 'get',
  path: '/v1/executions/{execution_id}/events',
  tag,
  summary: 'Follow the conversation of an execution',
  description:
    'Server-sent events: the events of the stream and every other record of the conversation, each with `type`, `time` ' +
    'and `data`. Pieces of text come as the model writes them. A piece of text has no id and is not sent again.',
  access: 'bearer',
  params: AgentExecutionId,
  headers: lastEventId,
  success: {
    kind: 'events',
    description: 'The events.',
    schema: ConversationEvent,
    lastEvents: lastAgentEvents,
    example: eventsExample,
  },
  errors: [unknownExecution, badEventId],
});

export const contracts: readonly Contract[] = [
  startAgentExecution,
  listAgentExecutions,
  readAgentExecution,
  cancelAgentExecution,
  deleteAgentExecution,
  readAgentTranscript,
  streamAgentExecution,
  followAgentConversation,
];
