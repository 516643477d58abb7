import { type Static, Type } from 'typebox';
import { anyObject, oneOf, timestamp } from '../../../crds/schema/parts.ts';
import { stateKinds } from '../../../crds/schema/state-kinds.ts';
import { phases } from '../../../crds/schema/workflow-execution-status.ts';
import { orNull } from '../../../lib/http/or-null.ts';
import { deletingField } from '../being-deleted.ts';

/** Replaces a part of a value that is too large for it (design §5). */
export const LargeValue = Type.Object(
  {
    ref: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the stored part.' }),
    bytes: Type.Integer({ minimum: 0, description: 'Its size.' }),
    truncated: Type.Boolean({ description: 'More was written than was kept (1 MiB of each output stream).' }),
  },
  { additionalProperties: false },
);
export type LargeValue = Static<typeof LargeValue>;

const summaryFields = {
  execution_id: Type.String({ format: 'uuid', description: 'Never changes.' }),
  name: Type.String({ description: 'Its name in Kubernetes. Every route takes it in place of the id.' }),
  workflow_id: orNull(Type.String({ format: 'uuid', description: 'Null until the workflow is known.' })),
  workflow: Type.String({ description: 'Name of the workflow.' }),
  version: orNull(Type.String({ description: 'Version that runs; null until it is known.' })),
  status: oneOf(phases, {
    description: '`completed` means that it reached a terminal state; `reason` shows whether that state failed.',
  }),
  reason: orNull(
    Type.String({
      description:
        'Why it failed, waits or was cancelled, in one word. A completed one has `Completed`, or `LastStateFailed` where ' +
        'the state that ended it failed.',
    }),
  ),
  message: orNull(Type.String({ description: 'The same as a sentence.' })),
  current_state: orNull(Type.String({ description: 'The state it is in, or ended in.' })),
  transitions: Type.Integer({ minimum: 0, description: 'Transition rules taken so far.' }),
  created_at: timestamp({ description: 'When it was asked for.' }),
  started_at: orNull(timestamp({ description: 'When the controllers began with it.' })),
  completed_at: orNull(timestamp({ description: 'When it ended, however it ended.' })),
  archived: Type.Boolean({ description: 'This is read from the archive; the execution itself may be gone.' }),
  deleting: deletingField,
};

/** An execution in a list. */
export const ExecutionSummary = Type.Object(summaryFields, { additionalProperties: false });
export type ExecutionSummary = Static<typeof ExecutionSummary>;

/** A visit of a state that has ended, as the history of an execution tells it (requirements AMB-174). */
export const PastVisit = Type.Object(
  {
    state: Type.String(),
    kind: oneOf(stateKinds),
    visit: Type.Integer({ minimum: 1 }),
    status: oneOf(['success', 'failed']),
    reason: orNull(Type.String()),
    message: orNull(Type.String()),
    attempts: Type.Integer({ minimum: 0 }),
    exit_code: orNull(
      Type.Integer({ description: 'Exit code of a command. Null where the whole entry is in the output store.' }),
    ),
    steps: orNull(
      Type.Unsafe<Record<string, number>>({
        type: 'object',
        additionalProperties: { type: 'integer' },
        description: 'Exit code of each step of a parallel state.',
      }),
    ),
    started_at: timestamp(),
    completed_at: timestamp(),
    rule: orNull(Type.Integer({ minimum: 0, description: 'Index of the transition rule that was taken.' })),
    target: orNull(Type.String({ description: 'The state that followed.' })),
    decision: orNull(
      Type.Object(
        {
          by: Type.String(),
          via: orNull(
            oneOf(['api', 'kubernetes'], {
              description:
                'Verifier of by: the API, from a token, or the API server of Kubernetes. Null for a default.',
            }),
          ),
          at: timestamp(),
          response: Type.String(),
        },
        { additionalProperties: false, description: 'The decision of a person, and the person.' },
      ),
    ),
  },
  { additionalProperties: false },
);
export type PastVisit = Static<typeof PastVisit>;

const Cause = Type.Object({ reason: Type.String(), message: Type.String() }, { additionalProperties: false });

/** The visit that an execution is in, or that its end interrupted. */
export const CurrentVisitObject = Type.Object(
  {
    state: Type.String(),
    kind: oneOf(stateKinds),
    visit: Type.Integer({ minimum: 1 }),
    started_at: timestamp(),
    deadline: orNull(timestamp({ description: 'When the state times out.' })),
    attempt: Type.Integer({ minimum: 1 }),
    retry_at: orNull(timestamp({ description: 'When the next attempt starts.' })),
    failure: orNull(Cause),
    waiting: orNull(
      Type.Object(
        { ...Cause.properties, since: timestamp() },
        { additionalProperties: false, description: 'The cause for which it cannot run yet.' },
      ),
    ),
    prompt: orNull(Type.String({ description: 'The question of a Human state; of a long one the beginning.' })),
    answers: Type.Array(Type.String(), { description: 'Responses that match a rule, as far as the rules name them.' }),
    signals_refused: Type.Integer({ minimum: 0, description: 'Signals that matched no rule of this visit.' }),
  },
  { additionalProperties: false, description: 'The visit that it is in, or that its end interrupted.' },
);
export type CurrentVisitObject = Static<typeof CurrentVisitObject>;

/** An execution in full (requirements AMB-154). */
export const Execution = Type.Object(
  {
    ...summaryFields,
    input: anyObject({ description: 'Input of the start.' }),
    intent: orNull(Type.String()),
    history: Type.Array(PastVisit, { description: 'The states that it has been in, in their order.' }),
    current: orNull(CurrentVisitObject),
    blackboard: anyObject({
      description: 'Values that the states share, by key; large parts as {ref, bytes, truncated}.',
    }),
    final_output: orNull(
      anyObject({
        description:
          'output_template on the final Blackboard. Null without a template and until the execution has completed.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type Execution = Static<typeof Execution>;

export const summaryExample: ExecutionSummary = {
  execution_id: 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22',
  name: 'hello-x7k2p',
  workflow_id: '0d1f6b7e-8a53-4c55-9d64-2f3a1b5c7e90',
  workflow: 'hello',
  version: '1.0.0',
  status: 'completed',
  reason: 'Completed',
  message: 'ended in state greet',
  current_state: 'greet',
  transitions: 0,
  created_at: '2026-01-02T03:04:04.000Z',
  started_at: '2026-01-02T03:04:05.000Z',
  completed_at: '2026-01-02T03:04:06.250Z',
  archived: false,
};

export const executionExample: Execution = {
  ...summaryExample,
  input: { name: 'Ada' },
  intent: null,
  history: [
    {
      state: 'greet',
      kind: 'System',
      visit: 1,
      status: 'success',
      reason: null,
      message: null,
      attempts: 1,
      exit_code: 0,
      steps: null,
      started_at: '2026-01-02T03:04:05.000Z',
      completed_at: '2026-01-02T03:04:06.250Z',
      rule: null,
      target: null,
      decision: null,
    },
  ],
  current: null,
  blackboard: { greet: { status: 'success', exit_code: 0, stdout: 'Hello, Ada!\n', stderr: '' } },
  final_output: { greeting: 'Hello, Ada!' },
};
