import { Type } from 'typebox';
import { defineContract } from '../../../../lib/http/contract.ts';
import { unknownExecution } from '../../not-found.ts';
import { ExecutionId } from '../execution-id.ts';
import { ExecutionEvent, lastEvents } from './event-schema.ts';

const example = `id: start
data: {"workflow_execution_started":{"execution_id":"a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22","workflow_id":"0d1f6b7e-8a53-4c55-9d64-2f3a1b5c7e90","workflow":"hello","version":"1.0.0","started_at":"2026-01-02T03:04:05.000Z"}}

id: 1.started
data: {"state_started":{"execution_id":"a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22","state":"greet","visit":1,"kind":"ContainerRun","started_at":"2026-01-02T03:04:05.000Z"}}

id: 1.completed
data: {"state_completed":{"execution_id":"a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22","state":"greet","visit":1,"status":"success","exit_code":0,"completed_at":"2026-01-02T03:04:06.250Z"}}

id: end
data: {"workflow_execution_completed":{"execution_id":"a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22","final_output":{"greeting":"Hello, Ada!"},"transitions":0,"completed_at":"2026-01-02T03:04:06.250Z"}}

`;

/** requirements AMB-030, AMB-032. */
export const streamExecution = defineContract({
  operationId: 'streamExecution',
  method: 'get',
  path: '/v1/workflows/executions/{execution_id}/stream',
  tag: 'Executions',
  summary: 'Follow an execution',
  description:
    'Server-sent events: everything that has happened from the beginning, then what happens, and at last exactly one ' +
    'event that ends the stream. Each `data:` line is one JSON object whose only key is the type of the event. A ' +
    'comment is sent every 15 seconds while nothing happens.\n\nThe ids are the same on every replica and at any ' +
    'time: with `Last-Event-ID` the stream continues there, without a gap and without a repetition. Behind ' +
    'the event that ends it the answer is 204, which tells clients that reconnect by themselves to stop.',
  access: 'bearer',
  params: ExecutionId,
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({ maxLength: 64, description: 'The id of the last event that was received; empty: from the start.' }),
    ),
  }),
  success: { kind: 'events', description: 'The events.', schema: ExecutionEvent, lastEvents, example },
  errors: [
    unknownExecution,
    { status: 400, error: 'invalid_request', when: '`Last-Event-ID` is not the id of an event of an execution.' },
  ],
});
