import { type Static, type TProperties, Type } from 'typebox';
import { agentPhases } from '../../../crds/schema/agent-execution.ts';
import { oneOf, timestamp } from '../../../crds/schema/parts.ts';
import { deletingField } from '../being-deleted.ts';

/** Path parameter of the routes about one execution of an agent. */
export const AgentExecutionId = Type.Object(
  {
    execution_id: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Id of the execution, or its name in Kubernetes.',
    }),
  },
  { additionalProperties: false },
);

const id = Type.String({ format: 'uuid', description: 'Id of the execution.' });
const text = (description: string) => Type.Optional(Type.String({ description }));
const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));

/** An execution in a list. */
export const AgentExecutionSummary = Type.Object(
  {
    execution_id: id,
    name: Type.String({ description: 'Its name in Kubernetes.' }),
    agent: Type.String({ description: 'Name of the agent, or what it was asked for by until that is known.' }),
    agent_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], { description: 'Null until it is known.' }),
    version: text('The version of the agent that runs.'),
    status: oneOf(agentPhases, { description: 'How it is doing.' }),
    reason: text('Why it waits or failed, in one word.'),
    message: text('The same in one sentence.'),
    created_at: timestamp(),
    started_at: Type.Optional(timestamp()),
    finished_at: Type.Optional(timestamp()),
    iterations: count('Answers that the agent gave, refused ones included.'),
    tool_calls: count('Tool calls that ran.'),
    input_tokens: count('Tokens that the model read.'),
    output_tokens: count('Tokens that the model wrote.'),
    cost_usd: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'By the prices of the node configuration; absent where its model has none.',
      }),
    ),
    archived: Type.Boolean({ description: 'This is read from the archive; the execution itself may be gone.' }),
    deleting: deletingField,
  },
  { additionalProperties: false },
);
export type AgentExecutionSummary = Static<typeof AgentExecutionSummary>;

/** An execution with its input and its outcome. */
export const AgentExecutionView = Type.Object(
  {
    ...AgentExecutionSummary.properties,
    input: text('The task input.'),
    intent: text('The natural-language purpose.'),
    output: text('The final text.'),
    score: Type.Optional(Type.Number({ description: 'From the judge of the agent, else from its answer.' })),
    confidence: Type.Optional(Type.Number({ description: 'From its answer.' })),
    provider: text('Provider that served the model.'),
    model: text('Model as the provider names it.'),
    workflow_execution_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'The execution of a workflow that started this one.' }),
    ),
    state: text('The state of that workflow.'),
    approval: Type.Optional(
      Type.Object(
        {
          id: Type.String({ format: 'uuid', description: 'Id of the approval request.' }),
          tool: Type.String({ description: 'The tool that is to be called.' }),
          arguments: Type.String({ description: 'Its arguments, as JSON.' }),
          asked_at: timestamp({ description: 'When the execution began to wait.' }),
          until: timestamp({ description: 'When the call is refused unless it is answered.' }),
        },
        { additionalProperties: false, description: 'The tool call that waits for a person.' },
      ),
    ),
  },
  { additionalProperties: false },
);
export type AgentExecutionView = Static<typeof AgentExecutionView>;

const strict = <P extends TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description });
const iteration = { execution_id: id, iteration_number: Type.Integer({ minimum: 1, description: 'From 1 on.' }) };
const total = Type.Integer({ minimum: 0, description: 'Iterations in all.' });

/** The fields of each type of event of a stream (spec 1 §6). The last four end it; the last three are ours. */
const agentEventFields = {
  execution_started: strict(
    { execution_id: id, agent_id: Type.String({ format: 'uuid' }), started_at: timestamp() },
    'The agent has begun.',
  ),
  iteration_started: strict(
    { ...iteration, action: Type.String({ description: 'Next action of the agent.' }), started_at: timestamp() },
    'The agent begins an answer.',
  ),
  iteration_completed: strict(
    { ...iteration, output: Type.String({ description: 'The answer.' }), completed_at: timestamp() },
    'The agent gave an answer, accepted or not.',
  ),
  execution_completed: strict(
    {
      execution_id: id,
      final_output: Type.String({ description: 'The final text.' }),
      total_iterations: total,
      completed_at: timestamp(),
    },
    'The agent is done. Ends the stream.',
  ),
  execution_failed: strict(
    {
      execution_id: id,
      error: Type.String({ description: 'Why: the reason in one word, a colon, and a sentence.' }),
      total_iterations: total,
      failed_at: timestamp(),
    },
    'The execution failed. Ends the stream.',
  ),
  execution_cancelled: strict(
    { execution_id: id, by: text('The user who cancelled it.'), reason: text('Why.'), cancelled_at: timestamp() },
    'The execution was cancelled. Ends the stream.',
  ),
  execution_deleted: strict({ execution_id: id }, 'The execution was deleted before it had ended. Ends the stream.'),
} as const;

type AgentEventType = keyof typeof agentEventFields;
type AgentEventFields = { readonly [T in AgentEventType]: Static<(typeof agentEventFields)[T]> };

/** One event: a single key, its type, and the fields. */
export const AgentEvent = Type.Union(
  Object.entries(agentEventFields).map(([type, fields]) =>
    Type.Object({ [type]: fields }, { additionalProperties: false }),
  ),
);
export type AgentEvent = { readonly [T in AgentEventType]: Pick<AgentEventFields, T> }[AgentEventType];

export const lastAgentEvents = [
  'execution_completed',
  'execution_failed',
  'execution_cancelled',
  'execution_deleted',
] as const satisfies readonly AgentEventType[];

/** An event of `/events` (requirements AMB-031). */
export const ConversationEvent = Type.Object(
  {
    type: Type.String({
      description:
        'A type of the stream: `execution_started`, `iteration_started`, `iteration_completed`, `execution_completed`, ' +
        '`execution_failed`, `execution_cancelled` or `execution_deleted`. Or the kind of another record: `taken_over`, ' +
        '`model_asked`, `model_replied`, `judge_replied`, `call_judged`, `approval_asked`, `approval_given`, ' +
        '`tool_started`, `dispatched`, `tool_ended`, `pod_said`, `signed_call`, `signed_ended` or `iteration_judged`. Or ' +
        '`text`: a piece of text as the model writes it.',
    }),
    time: timestamp({ description: 'When it happened.' }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The fields that the stream gives the type, and others that are on record.',
    }),
  },
  { additionalProperties: false },
);
export type ConversationEvent = Static<typeof ConversationEvent>;
