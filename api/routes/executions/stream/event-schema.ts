import { type Static, type TProperties, Type } from 'typebox';
import { anyObject, oneOf, timestamp } from '../../../../crds/schema/parts.ts';
import { stateKinds } from '../../../../crds/schema/state-kinds.ts';
import { LargeValue } from '../execution-object.ts';

const id = { execution_id: Type.String({ format: 'uuid' }) };
const visit = {
  ...id,
  state: Type.String(),
  visit: Type.Integer({ minimum: 1, description: '1 where the state was entered for the first time.' }),
};
const transitions = Type.Integer({ minimum: 0, description: 'Transition rules taken in all.' });

const strict = <P extends TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description });

/** The fields of each type of event of an execution. The last four end a stream. */
export const eventFields = {
  workflow_execution_started: strict(
    {
      ...id,
      workflow_id: Type.String({ format: 'uuid' }),
      workflow: Type.String({ description: 'Name of the workflow.' }),
      version: Type.String({ description: 'The version that runs.' }),
      started_at: timestamp(),
    },
    'The workflow is known and its input is valid.',
  ),
  state_started: strict(
    {
      ...visit,
      kind: oneOf(stateKinds),
      started_at: timestamp(),
      deadline: Type.Optional(timestamp({ description: 'When it times out; only as long as it runs.' })),
    },
    'The execution has entered a state.',
  ),
  human_approval_requested: strict(
    {
      ...visit,
      request_id: Type.String({ format: 'uuid', description: 'Its id under `/v1/human-approvals`.' }),
      requested_at: timestamp(),
      prompt: Type.Optional(Type.String({ description: 'The question; only as long as the state waits.' })),
      answers: Type.Optional(
        Type.Array(Type.String(), { description: 'Responses that match a rule; only as long as the state waits.' }),
      ),
    },
    'A Human state waits for an answer.',
  ),
  state_retried: strict(
    {
      ...visit,
      attempt: Type.Integer({ minimum: 2, description: 'The attempt that follows.' }),
      reason: Type.Optional(Type.String({ description: 'Why the one before failed; only as long as this one runs.' })),
      message: Type.Optional(Type.String({ description: 'The same as a sentence.' })),
      retry_at: Type.Optional(timestamp({ description: 'When it starts; only as long as it runs.' })),
    },
    'An attempt of a command failed and is made again.',
  ),
  state_completed: strict(
    {
      ...visit,
      status: oneOf(['success', 'failed']),
      reason: Type.Optional(Type.String({ description: 'Why it failed, in one word.' })),
      message: Type.Optional(Type.String({ description: 'The same as a sentence.' })),
      attempts: Type.Optional(Type.Integer({ minimum: 1, description: 'Number of attempts of a command.' })),
      exit_code: Type.Optional(Type.Integer({ description: 'Exit code of a command.' })),
      steps: Type.Optional(
        Type.Unsafe<Record<string, number>>({
          type: 'object',
          additionalProperties: { type: 'integer' },
          description: 'Exit code of each step of a parallel state.',
        }),
      ),
      response: Type.Optional(Type.String({ description: 'The answer to a Human state.' })),
      by: Type.Optional(Type.String({ description: 'The user who gave it.' })),
      rule: Type.Optional(Type.Integer({ minimum: 0, description: 'Index of the transition rule that matched.' })),
      target: Type.Optional(Type.String({ description: 'The state it leads to.' })),
      completed_at: timestamp(),
    },
    'A state has ended, well or not.',
  ),
  workflow_execution_completed: strict(
    {
      ...id,
      final_output: Type.Union([anyObject(), LargeValue, Type.Null()], {
        description: 'As in the execution: null without an output_template, a reference where it is too large.',
      }),
      transitions,
      completed_at: timestamp(),
      reason: Type.Optional(Type.String({ description: '`LastStateFailed` where the state that ended it failed.' })),
      message: Type.Optional(Type.String({ description: 'How that state failed.' })),
    },
    'The workflow reached a terminal state. Ends the stream.',
  ),
  workflow_execution_failed: strict(
    {
      ...id,
      reason: Type.String({ description: 'Why, in one word.' }),
      error: Type.String({ description: 'The same as a sentence.' }),
      transitions,
      failed_at: timestamp(),
    },
    'The execution failed. Ends the stream.',
  ),
  workflow_execution_cancelled: strict(
    {
      ...id,
      by: Type.Optional(Type.String({ description: 'The user who cancelled it.' })),
      reason: Type.Optional(Type.String({ description: 'Reason that the user gave.' })),
      transitions,
      cancelled_at: timestamp(),
    },
    'A caller cancelled the execution. Ends the stream.',
  ),
  workflow_execution_deleted: strict(id, 'The execution was deleted before it had ended. Ends the stream.'),
} as const;

/** The types of event that end a stream. */
export const lastEvents = [
  'workflow_execution_completed',
  'workflow_execution_failed',
  'workflow_execution_cancelled',
  'workflow_execution_deleted',
] as const satisfies readonly EventType[];

export type EventType = keyof typeof eventFields;
export type EventFields = { readonly [T in EventType]: Static<(typeof eventFields)[T]> };

/** One event: a single key, its type, and the fields. */
export const ExecutionEvent = Type.Union(
  Object.entries(eventFields).map(([type, fields]) => Type.Object({ [type]: fields }, { additionalProperties: false })),
);
export type ExecutionEvent = { readonly [T in EventType]: Pick<EventFields, T> }[EventType];
