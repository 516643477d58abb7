import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { Conditions } from './condition.ts';
import { anyJson, anyObject, atomic, mapOf, oneOf, timestamp } from './parts.ts';
import { stateKinds } from './state-kinds.ts';

export const phases = ['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
export type Phase = (typeof phases)[number];

/** Reference to a part of a value that is too large for status. */
export const BlobRef = Type.Object(
  {
    path: Type.String({ description: 'JSON pointer of the part inside the value; empty: the whole value.' }),
    ref: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the blob in the output store.' }),
    bytes: Type.Integer({ minimum: 0 }),
    encoding: oneOf(['text', 'json'], { description: 'text: the blob is the string itself; json: the blob is JSON.' }),
    stored_by: Type.Optional(
      Type.String({
        maxLength: limits.uidLength,
        description: 'Uid of the execution that stored the blob and that this one took it over from; absent: this one.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type BlobRef = Static<typeof BlobRef>;

/** A JSON value; its large parts are in the output store and null in `value`. */
export const StoredValue = Type.Object(
  {
    value: Type.Optional(anyJson()),
    refs: Type.Optional(Type.Array(BlobRef, { maxItems: limits.refsPerValue })),
  },
  { additionalProperties: false },
);
export type StoredValue = Static<typeof StoredValue>;

/**
 * Record of one finished visit of a state; `output` only once a later visit of the state has taken its place on the
 * Blackboard.
 */
export const Visit = Type.Object(
  {
    state: Type.String(),
    kind: oneOf(stateKinds),
    visit: Type.Integer(),
    status: oneOf(['success', 'failed']),
    reason: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    attempts: Type.Optional(Type.Integer()),
    entered_at: timestamp(),
    finished_at: timestamp(),
    rule: Type.Optional(Type.Integer({ description: 'Index of the transition rule that was taken.' })),
    target: Type.Optional(Type.String({ description: 'State that the rule leads to.' })),
    signal: Type.Optional(
      Type.Object(
        {
          id: Type.String(),
          by: Type.String(),
          at: timestamp(),
          response: Type.String(),
          via: Type.Optional(
            oneOf(['api', 'kubernetes'], {
              description: 'Source of by: the API, from a token, or the API server of Kubernetes. Absent: no decision.',
            }),
          ),
        },
        { additionalProperties: false, description: 'The decision that a Human state took.' },
      ),
    ),
    output: Type.Optional(StoredValue),
  },
  { additionalProperties: false },
);
export type Visit = Static<typeof Visit>;

/** A step of a parallel state that has ended while others still run. */
export const FinishedStep = Type.Object(
  {
    status: oneOf(['success', 'failed']),
    reason: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    result: StoredValue,
  },
  { additionalProperties: false },
);
export type FinishedStep = Static<typeof FinishedStep>;

/** The state the execution is in. Written before anything is started for it. */
export const CurrentState = Type.Object(
  {
    state: Type.String(),
    kind: oneOf(stateKinds),
    visit: Type.Integer({ minimum: 1 }),
    entered_at: timestamp(),
    started_at: Type.Optional(timestamp({ description: 'When its first container or child began to run.' })),
    deadline: Type.Optional(
      timestamp({
        description: 'When the state times out. Absent: never, or it counts from the start of a container.',
      }),
    ),
    waiting: Type.Optional(
      Type.Object(
        { reason: Type.String(), message: Type.String(), since: timestamp() },
        { additionalProperties: false, description: 'Reason for which it waits before it can run.' },
      ),
    ),
    disruptions: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Attempts that were lost through no fault of the state.' }),
    ),
    retried: Type.Optional(
      mapOf(
        Type.Object({ attempt: Type.Integer({ minimum: 2 }), queued_at: timestamp() }, { additionalProperties: false }),
        { maxProperties: limits.steps, description: 'Steps that are run again, by name.' },
      ),
    ),
    attempt: Type.Optional(Type.Integer({ minimum: 1 })),
    retry_at: Type.Optional(timestamp({ description: 'When the next attempt starts.' })),
    prompt: Type.Optional(Type.String({ description: 'Question of a Human state; the beginning of a long prompt.' })),
    prompt_ref: Type.Optional(BlobRef),
    child: Type.Optional(
      Type.Object({ name: Type.String(), uid: Type.Optional(Type.String()) }, { additionalProperties: false }),
    ),
    judges: Type.Optional(
      Type.Array(
        Type.Object({ name: Type.String(), uid: Type.Optional(Type.String()) }, { additionalProperties: false }),
        {
          maxItems: limits.judges,
          description: 'AgentExecutions of the judges of a ParallelAgents state, in the order of its agents.',
        },
      ),
    ),
    steps: Type.Optional(mapOf(FinishedStep, { maxProperties: limits.steps })),
    recorded_at: Type.Optional(timestamp({ description: 'When finished steps were last written down.' })),
    signals_before: Type.Optional(
      Type.Integer({ description: 'Signals that an earlier visit left; they do not answer this one.' }),
    ),
    signals_refused: Type.Optional(
      Type.Integer({ description: 'So many of the first signals do not answer this visit: they matched no rule.' }),
    ),
    answers: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.answerLength }), {
        maxItems: limits.answersListed,
        description: 'Responses that match a rule of the Human state, as far as its rules name them.',
      }),
    ),
    failure: Type.Optional(
      Type.Object(
        { reason: Type.String(), message: Type.String() },
        { additionalProperties: false, description: 'Why the last attempt failed.' },
      ),
    ),
  },
  { additionalProperties: false },
);
export type CurrentState = Static<typeof CurrentState>;

/** The stimulus that the end of the execution became (requirements AMB-189). */
export const EndStimulus = Type.Object(
  {
    id: Type.String({ maxLength: limits.uidLength }),
    source: Type.String({ description: 'The route, `workflow:NAME`.' }),
    workflow: Type.String({ description: 'Name or uid of the workflow that the route leads to.' }),
    execution: Type.Optional(
      Type.Object(
        { name: Type.String(), uid: Type.String() },
        { additionalProperties: false, description: 'The execution that it started.' },
      ),
    ),
    reason: Type.Optional(Type.String({ description: 'Why it started none and never will.' })),
    message: Type.Optional(Type.String()),
  },
  { additionalProperties: false, description: 'The stimulus that the end of the execution became.' },
);
export type EndStimulus = Static<typeof EndStimulus>;

/** A chain of children fails for what happened in the last of them. */
export const FailureCause = Type.Object(
  { execution: Type.String({ description: 'Its name.' }), reason: Type.String(), message: Type.String() },
  {
    additionalProperties: false,
    description: 'The execution, some levels below, whose failure this one failed for; absent: it failed itself.',
  },
);
export type FailureCause = Static<typeof FailureCause>;

const InterruptedState = Type.Object(CurrentState.properties, {
  additionalProperties: false,
  description: 'The visit that the end of the execution cut short, as by a cancellation.',
});

export const WorkflowExecutionStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    phase: oneOf(phases),
    reason: Type.Optional(Type.String({ description: 'Why the execution failed, waits or was cancelled.' })),
    message: Type.Optional(Type.String()),
    cause: Type.Optional(FailureCause),
    workflow: Type.Optional(
      Type.Object(
        {
          name: Type.String(),
          namespace: Type.String(),
          uid: Type.String(),
          version: Type.String(),
          revision: Type.String({ description: 'ControllerRevision that this execution runs.' }),
        },
        { additionalProperties: false },
      ),
    ),
    started_at: Type.Optional(timestamp()),
    finished_at: Type.Optional(timestamp()),
    archived_at: Type.Optional(timestamp({ description: 'When its final record was written to the archive.' })),
    state: Type.Optional(Type.String({ description: 'Name of the current or last state.' })),
    current: Type.Optional(CurrentState),
    interrupted: Type.Optional(InterruptedState),
    transitions: Type.Optional(Type.Integer({ description: 'Transition rules taken so far.' })),
    visits: Type.Optional(mapOf(Type.Integer(), { maxProperties: limits.states })),
    feedback: Type.Optional(StoredValue),
    human_feedback: Type.Optional(StoredValue),
    blackboard: Type.Optional(mapOf(StoredValue, { ...atomic, description: 'Values that the states share, by key.' })),
    history: Type.Optional(Type.Array(Visit, { maxItems: limits.transitionsMax + 1 })),
    volumes: Type.Optional(
      mapOf(
        Type.Object({ volume: Type.String(), claim: Type.Optional(Type.String()) }, { additionalProperties: false }),
        { description: 'Claims by volume name.' },
      ),
    ),
    final_output: Type.Optional(
      anyObject({ description: 'output_template rendered and coerced; absent until completed.' }),
    ),
    final_output_ref: Type.Optional(BlobRef),
    successors: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), uid: Type.String() }, { additionalProperties: false }), {
        maxItems: limits.successors,
        description: 'Executions that run this one again.',
      }),
    ),
    stimulus: Type.Optional(EndStimulus),
    stored_bytes: Type.Optional(
      Type.Integer({ description: 'How many bytes the output store holds for this execution.' }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.warningLength }), { maxItems: limits.warnings }),
    ),
  },
  { additionalProperties: false },
);
export type WorkflowExecutionStatus = Static<typeof WorkflowExecutionStatus>;
