import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { executionRules, signalListRules, signalRules } from '../rules/execution-rules.ts';
import type { KubernetesObject } from './object.ts';
import { anyJson, anyObject, atomic, cel, givenTimestamp, mapOf } from './parts.ts';
import type { WorkflowExecutionStatus } from './workflow-execution-status.ts';

const person = Type.String({ minLength: 1, maxLength: 512, description: 'User name as the API server saw it.' });

/**
 * A decision of a person, or of a program in place of one, on a Human state. Signals are only ever appended;
 * the first that fits a waiting state decides it (spec 1 §3.3).
 */
export const Signal = Type.Object(
  {
    id: Type.String({
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,126}$',
      maxLength: 127,
      description: 'Unique within the execution. STATE-VISIT gives concurrent decisions exactly one winner.',
    }),
    state: Type.String({
      minLength: 1,
      maxLength: limits.nameLength,
      description: 'The Human state that is answered.',
    }),
    visit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: limits.stateVisitsMax, description: 'Absent: the visit that waits.' }),
    ),
    response: Type.String({ maxLength: 65_536, description: 'The payload that input_equals rules compare.' }),
    feedback: Type.Optional(
      Type.String({ maxLength: 65_536, description: 'Text of {{human.feedback}} instead of the response.' }),
    ),
    by: person,
    at: givenTimestamp({ description: 'When it was decided; status keeps it within the time of the visit.' }),
    via: Type.Optional(
      Type.String({
        maxLength: 63,
        description: 'Origin: kubectl, cli, api. Only the API may write api: then by is the subject of a token.',
      }),
    ),
    note: Type.Optional(Type.String({ maxLength: 1_024, description: 'A note that is kept with the decision.' })),
  },
  { additionalProperties: false, ...cel(...signalRules) },
);
export type Signal = Static<typeof Signal>;

export const Cancel = Type.Object(
  {
    by: person,
    at: givenTimestamp({ description: 'When it was cancelled.' }),
    via: Type.Optional(
      Type.String({
        maxLength: 63,
        description: 'api, which only the API may write: then by is the subject of a token.',
      }),
    ),
    reason: Type.Optional(Type.String({ maxLength: 1_024, description: 'Why.' })),
  },
  { additionalProperties: false, description: 'Stops the execution, once and for good.' },
);
export type Cancel = Static<typeof Cancel>;

/** Written by the controller alone: which state of which execution started this one. */
const Parent = Type.Object(
  {
    name: Type.String({ maxLength: limits.objectNameLength, description: 'Name of that execution.' }),
    uid: Type.String({ maxLength: 36, description: 'Its uid.' }),
    state: Type.String({ maxLength: limits.nameLength, description: 'Its state that started this one.' }),
    visit: Type.Integer({ minimum: 1, description: 'The visit of that state.' }),
    root: Type.Optional(
      Type.String({ maxLength: 36, description: 'Uid of the execution that began it all; absent: the one above.' }),
    ),
    depth: Type.Integer({
      minimum: 1,
      maximum: limits.subworkflowDepthMax,
      description: 'Depth of this execution; a root has none.',
    }),
  },
  { additionalProperties: false, description: 'Which execution started this one; written by the controllers.' },
);

/** The engine reads what the origin had achieved from the origin itself: naming one gives no more than reading it. */
const Origin = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: limits.objectNameLength, description: 'Name of that execution.' }),
    uid: Type.String({ minLength: 1, maxLength: 36, description: 'Its uid.' }),
    from: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLength,
        description: 'The state to begin in, with what was achieved before it. Absent: the initial state.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Which execution of the namespace this one runs again, and from where.' },
);

export const WorkflowExecutionSpec = Type.Object(
  {
    workflow: Type.String({
      minLength: 1,
      maxLength: limits.objectNameLength,
      description: 'Name or uid of a Workflow here or in the global namespace.',
    }),
    version: Type.Optional(Type.String({ maxLength: 128, description: 'A stored version; absent: the newest.' })),
    input: Type.Optional(anyObject({ description: 'Start input; templates read it as {{input.KEY}}.' })),
    intent: Type.Optional(Type.String({ maxLength: limits.templateLength, description: 'Natural-language purpose.' })),
    blackboard: Type.Optional(
      mapOf(anyJson(), { ...atomic, maxProperties: limits.mapEntries, description: 'Pairs that seed the Blackboard.' }),
    ),
    ttl_seconds_after_finished: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 31_536_000,
        description: 'How many seconds after its end the execution is deleted.',
      }),
    ),
    signals: Type.Optional(
      Type.Array(Signal, {
        maxItems: limits.signals,
        description: 'Decisions on Human states, in the order in which they came.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['id'],
        ...cel(...signalListRules),
      }),
    ),
    cancel: Type.Optional(Cancel),
    parent: Type.Optional(Parent),
    origin: Type.Optional(Origin),
  },
  { additionalProperties: false, ...cel(...executionRules) },
);
export type WorkflowExecutionSpec = Static<typeof WorkflowExecutionSpec>;

export type WorkflowExecution = KubernetesObject<'WorkflowExecution', WorkflowExecutionSpec, WorkflowExecutionStatus>;
