import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { signalListRules, signalRules } from '../rules/execution-rules.ts';
import { uidPattern } from '../uid.ts';
import { AgentMount } from './agent.ts';
import { Conditions } from './condition.ts';
import type { KubernetesObject } from './object.ts';
import { patternRule } from '../rules/pattern-rule.ts';
import { cel, type CelRule, oneOf, timestamp, weekPattern } from './parts.ts';
import { Cancel, Signal } from './workflow-execution.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** Numbers of one execution, as far as it has come. */
const usage = {
  iterations: Type.Optional(count('Answers that the agent gave, refused ones included.')),
  tool_calls: Type.Optional(count('Tool calls that ran.')),
  input_tokens: Type.Optional(count('Tokens that the model read.')),
  output_tokens: Type.Optional(count('Tokens that the model wrote.')),
  cost_usd: Type.Optional(Type.Number({ minimum: 0, description: 'Cost by the prices of the node configuration.' })),
};

/** The outcome. The API alone writes it, once (design §12). */
const AgentResult = Type.Object(
  {
    phase: oneOf(['completed', 'failed'], { description: 'How the execution ended.' }),
    reason: Type.Optional(Type.String({ maxLength: 128, description: 'Why it failed, in one word.' })),
    message: Type.Optional(Type.String({ maxLength: 2_048, description: 'Why it failed, in one sentence.' })),
    output: Type.Optional(Type.String({ maxLength: limits.agentOutputLength, description: 'The final text.' })),
    score: Type.Optional(
      Type.Number({ description: 'From the judge of the agent, else from the JSON of the final text.' }),
    ),
    confidence: Type.Optional(Type.Number({ description: 'From the JSON of the final text.' })),
    ...usage,
    provider: Type.Optional(Type.String({ maxLength: 128, description: 'Provider that served the model.' })),
    model: Type.Optional(Type.String({ maxLength: 253, description: 'Model as the provider names it.' })),
    at: timestamp({ description: 'When it ended.' }),
  },
  { additionalProperties: false, description: 'The outcome; written by the API, once.' },
);
export type AgentResult = Static<typeof AgentResult>;

const askId = (description: string) => Type.String({ pattern: uidPattern, maxLength: 36, description });

/** A tool call that waits for a person (ADR 0082). The API writes it, and takes it away once that is over. */
const AgentAsk = Type.Object(
  {
    id: askId('Id of the approval request.'),
    tool: Type.String({ maxLength: limits.toolNameLength, description: 'The tool that is to be called.' }),
    arguments: Type.String({
      maxLength: limits.askArgumentsLength,
      description: 'Its arguments as JSON, in full; characters that show as nothing are escaped.',
    }),
    asked_at: timestamp({ description: 'When the execution began to wait.' }),
    until: timestamp({ description: 'When the call is refused unless it is answered.' }),
  },
  { additionalProperties: false, description: 'The tool call that waits for a person; written by the API.' },
);
export type AgentAsk = Static<typeof AgentAsk>;

/** Why a conversation waits for what it takes turns at. Reasons that are shown in the status as well. */
export const agentWaitReasons = ['WaitingForRoom', 'ProviderBusy', 'ProviderResting', 'WaitingForVersion'] as const;

/** A conversation waits for long (ADR 0168). The API writes it, and takes it away once that is over. */
const AgentWait = Type.Object(
  {
    reason: oneOf(agentWaitReasons, { description: 'Why it waits, in one word.' }),
    message: Type.String({ maxLength: limits.agentWaitLength, description: 'The same in one sentence.' }),
    since: timestamp({ description: 'When that began, but for pauses of some seconds.' }),
  },
  { additionalProperties: false, description: 'Why the conversation waits; written by the API.' },
);
export type AgentWait = Static<typeof AgentWait>;

const { by, at, via, note } = Signal.properties;

/** The answer to an ask. Answers are only ever appended, and only while the ask is there. */
const AgentSignal = Type.Object(
  {
    id: askId('Id of the ask that is answered: there is one answer to each.'),
    response: oneOf(['approved', 'rejected'], { description: 'Whether the call may run.' }),
    feedback: Type.Optional(
      Type.String({
        maxLength: limits.askFeedbackLength,
        description: 'Why; the model reads it where it is rejected.',
      }),
    ),
    by,
    at,
    via,
    note,
  },
  { additionalProperties: false, ...cel(...signalRules) },
);
export type AgentSignal = Static<typeof AgentSignal>;

const Parent = Type.Object(
  {
    name: Type.String({ maxLength: limits.objectNameLength, description: 'Name of the WorkflowExecution.' }),
    uid: Type.String({ maxLength: 36, description: 'Its uid.' }),
    state: Type.String({ maxLength: limits.nameLength, description: 'Its state that started this one.' }),
    visit: Type.Integer({ minimum: 1, description: 'The visit of that state.' }),
    judge: Type.Optional(Type.Integer({ minimum: 0, description: 'Index in agents of a ParallelAgents state.' })),
  },
  { additionalProperties: false, description: 'Which execution started this one; written by the controllers.' },
);

const isSame = (field: string): string =>
  `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`;

/** Rules of an execution's spec. An admission policy has the writers of each field (crds/admission). */
const agentExecutionRules: CelRule[] = [
  {
    rule: '!has(oldSelf.result) || (has(self.result) && self.result == oldSelf.result)',
    message: 'result: is written once',
  },
  {
    rule: '!has(oldSelf.cancel) || (has(self.cancel) && self.cancel == oldSelf.cancel)',
    message: 'cancel: cannot be taken back',
  },
  {
    rule: `self.agent == oldSelf.agent && ${['version', 'input', 'intent'].map(isSame).join(' && ')}`,
    message: 'agent, version, input and intent: are immutable; start another execution',
  },
  // The deadline is fixed when the execution begins: a change would be accepted and do nothing.
  { rule: isSame('timeout'), message: 'timeout: is immutable; cancel this execution, or start another one' },
  { rule: isSame('max_tokens'), message: 'max_tokens: is immutable; cancel this execution, or start another one' },
  { rule: isSame('max_cost_usd'), message: 'max_cost_usd: is immutable; cancel this execution, or start another one' },
  {
    rule: '!has(oldSelf.signals) || oldSelf.signals.size() == 0 || has(self.signals)',
    message: 'signals: can only be appended; none may be removed',
  },
  // An answer that stood there before the ask would be one to a call that its author has not seen.
  {
    rule: '!has(self.signals) || self.signals.all(s, (has(oldSelf.signals) && oldSelf.signals.exists(o, o.id == s.id)) || (has(oldSelf.ask) && oldSelf.ask.id == s.id))',
    message: 'signals: a new one must have the id of spec.ask, the call that waits',
  },
];

export const AgentExecutionSpec = Type.Object(
  {
    agent: Type.String({
      minLength: 1,
      maxLength: limits.objectNameLength,
      description: 'Name or uid of an Agent here or in the global namespace.',
    }),
    version: Type.Optional(Type.String({ maxLength: 128, description: 'A stored version; absent: the newest.' })),
    input: Type.Optional(Type.String({ maxLength: limits.agentInputLength, description: 'The task input.' })),
    intent: Type.Optional(Type.String({ maxLength: limits.templateLength, description: 'Natural-language purpose.' })),
    isolation: Type.Optional(
      oneOf(['inherit', 'firecracker', 'docker', 'process'], {
        default: 'inherit',
        description: 'How the container is isolated.',
      }),
    ),
    volumes: Type.Optional(
      Type.Array(AgentMount, {
        maxItems: limits.volumes,
        description: 'Volumes that are mounted into the container, beside those of the agent.',
      }),
    ),
    timeout: Type.Optional(
      Type.String({
        pattern: weekPattern,
        // A rule's cost is estimated from it.
        maxLength: 7,
        description: 'Longest time, 168h (7 days) at most. Default: the one of the agent.',
        ...cel(patternRule(weekPattern)),
      }),
    ),
    max_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000_000,
        description: 'Most tokens, input and output. The lower one of this and the bound of the agent counts.',
      }),
    ),
    max_cost_usd: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Most cost by the prices of the node configuration; the lower one counts here as well.',
      }),
    ),
    ttl_seconds_after_finished: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 31_536_000,
        description: 'Seconds after its end until the execution is deleted.',
      }),
    ),
    cancel: Type.Optional(Cancel),
    ask: Type.Optional(AgentAsk),
    signals: Type.Optional(
      Type.Array(AgentSignal, {
        maxItems: limits.agentAsks,
        description: 'Answers of people to asks, in the order in which they came.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['id'],
        ...cel(...signalListRules),
      }),
    ),
    wait: Type.Optional(AgentWait),
    parent: Type.Optional(Parent),
    result: Type.Optional(AgentResult),
  },
  {
    additionalProperties: false,
    ...cel(...agentExecutionRules),
  },
);
export type AgentExecutionSpec = Static<typeof AgentExecutionSpec>;

export const agentPhases = ['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;

export const AgentExecutionStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    phase: Type.Optional(
      oneOf(agentPhases, { description: 'pending, running, waiting, completed, failed or cancelled.' }),
    ),
    reason: Type.Optional(Type.String({ maxLength: 128, description: 'Why it waits or failed, in one word.' })),
    message: Type.Optional(Type.String({ maxLength: 2_048, description: 'The same in one sentence.' })),
    agent: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the Agent.' }),
          namespace: Type.String({ description: 'Its namespace.' }),
          uid: Type.String({ description: 'Its uid.' }),
          version: Type.String({ description: 'The version that runs.' }),
          revision: Type.String({ description: 'Name of the ControllerRevision that holds it.' }),
        },
        { additionalProperties: false, description: 'The definition that runs, fixed at the start.' },
      ),
    ),
    pod: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'Its name.' }),
          uid: Type.Optional(Type.String({ description: 'Its uid; the only pod that may attest.' })),
          attempt: Type.Integer({ minimum: 1, description: 'Pods of this execution so far.' }),
        },
        { additionalProperties: false, description: 'The pod of the execution.' },
      ),
    ),
    started_at: Type.Optional(timestamp({ description: 'When the definition was fixed.' })),
    finished_at: Type.Optional(timestamp({ description: 'When it ended.' })),
    archived_at: Type.Optional(timestamp({ description: 'When its final record was written to the archive.' })),
    deadline: Type.Optional(timestamp({ description: 'When it fails with Timeout.' })),
    score: Type.Optional(Type.Number({ description: 'Score of the outcome.' })),
    confidence: Type.Optional(Type.Number({ description: 'Confidence of the outcome.' })),
    ...usage,
  },
  { additionalProperties: false },
);
export type AgentExecutionStatus = Static<typeof AgentExecutionStatus>;

export type AgentExecution = KubernetesObject<'AgentExecution', AgentExecutionSpec, AgentExecutionStatus>;
