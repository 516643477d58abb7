import { type Static, type TProperties, Type } from 'typebox';
import { imageReferencePattern } from '../image-reference.ts';
import { limits } from '../limits.ts';
import { stateNamePattern } from '../reserved-names.ts';
import { patternRule } from '../rules/pattern-rule.ts';
import { parallelAgentsRules, stateRules, subworkflowRules } from '../rules/state-rules.ts';
import { Consensus, Judge } from './consensus.ts';
import { containerFields, environment, imageReference, Retry, Step, workdir } from './container.ts';
import { type CelRule, cel, durationPattern, oneOf } from './parts.ts';
import type { StateKind } from './state-kinds.ts';
import { Transition } from './transition.ts';

const template = (description: string) => Type.String({ maxLength: limits.templateLength, description });

/** Fields that every state has (spec 1 §2.6, "State common fields"). */
const common = {
  max_state_visits: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.stateVisitsMax,
      default: limits.stateVisitsDefault,
      description: 'How often the state may be entered; one entry more ends the workflow.',
    }),
  ),
  timeout: Type.Optional(
    Type.String({
      pattern: durationPattern,
      default: limits.stateTimeoutDefault,
      description:
        'Longest time in the state from its entry, as 300s, 5m or 1h. The default counts from the start of its first container or child; a Human state without it waits for ever.',
    }),
  ),
  transitions: Type.Array(Transition, {
    maxItems: limits.transitionsPerState,
    description: 'Ordered rules; an empty list makes the state terminal.',
  }),
};

/** requirements AMB-190: waiting for quota, room on a node, an image or a volume does not use up the default timeout. */
const queueTimeout = {
  queue_timeout: Type.Optional(
    Type.String({
      pattern: durationPattern,
      default: limits.queueTimeoutDefault,
      description:
        'Longest wait for quota, room on a node, an image or a volume; a step that has not started then fails with NeverStarted.',
    }),
  ),
};

/** requirements AMB-191 */
const onDisruption = {
  retry_on_disruption: Type.Optional(
    Type.Boolean({
      description:
        'Whether a step whose pod was drained, preempted, evicted or lost with its node is run again, three times at most and beside retry.max_attempts. By default only where retry is declared.',
    }),
  ),
};

const state = <const K extends StateKind, P extends TProperties>(
  kind: K,
  fields: P,
  description: string,
  rules: CelRule[] = [],
) =>
  Type.Object(
    { kind: oneOf([kind]), ...common, ...fields },
    { additionalProperties: false, description, ...(rules.length > 0 && cel(...rules)) },
  );

/** spec 1 §2.6, common field `volumes`, for states of kind Agent. */
const AgentVolume = Type.Object(
  {
    volume: Type.String({ minLength: 1, maxLength: 1_024, description: 'Template that gives the volume.' }),
    mount_path: Type.String({ pattern: '^/', maxLength: 1_024, description: 'Absolute path in the container.' }),
    access_mode: oneOf(['read-write', 'read-only'], { description: 'Whether it may be written to.' }),
  },
  { additionalProperties: false },
);

const AgentState = state(
  'Agent',
  {
    agent: Type.String({
      minLength: 1,
      maxLength: limits.objectNameLength,
      description: 'Name or uid of a deployed agent.',
    }),
    intent: Type.Optional(template('Template; steering for this state. Falls back to the intent of the execution.')),
    input: Type.Optional(template('Template; the task input.')),
    isolation: Type.Optional(
      oneOf(['inherit', 'firecracker', 'docker', 'process'], {
        default: 'inherit',
        description: 'Isolation of the agent from others.',
      }),
    ),
    volumes: Type.Optional(
      Type.Array(AgentVolume, {
        maxItems: limits.volumes,
        description: 'Volumes that are mounted into the container.',
      }),
    ),
  },
  'Runs a deployed agent.',
);

const SystemState = state(
  'System',
  {
    command: Type.String({
      minLength: 1,
      maxLength: limits.templateLength,
      description: 'Shell command, or update_context, finalize or call_tool. Template.',
    }),
    env: Type.Optional(environment),
    workdir: Type.Optional(workdir),
    ...queueTimeout,
    ...onDisruption,
  },
  'Runs a shell command with the workspace, or one of the built-in commands.',
);

const HumanState = state(
  'Human',
  {
    prompt: Type.String({
      minLength: 1,
      maxLength: limits.templateLength,
      description: 'Template; the message for the reviewer.',
    }),
    default_response: Type.Optional(
      Type.String({ maxLength: 4_096, description: 'Signal that is applied when the timeout elapses.' }),
    ),
  },
  'Waits for a person.',
);

const ParallelAgentsState = state(
  'ParallelAgents',
  {
    agents: Type.Array(Judge, { minItems: 1, maxItems: limits.judges, description: 'The agents that judge.' }),
    consensus: Consensus,
  },
  'Asks several agents at once and weighs their answers.',
  parallelAgentsRules,
);

const ContainerRunState = state(
  'ContainerRun',
  {
    name: Type.Optional(Type.String({ maxLength: limits.objectNameLength, description: 'Display label.' })),
    ...containerFields,
    // Steps keep the pattern: the API server bounds the cost of a rule on 5,000 of them.
    image: imageReference(cel(patternRule(imageReferencePattern))),
    retry: Type.Optional(Retry),
    ...queueTimeout,
    ...onDisruption,
  },
  'Runs one command in a container.',
);

const ParallelContainerRunState = state(
  'ParallelContainerRun',
  {
    steps: Type.Array(Step, {
      minItems: 1,
      maxItems: limits.steps,
      description: 'The commands, by name.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
    completion: Type.Optional(
      oneOf(['all_succeed', 'any_succeed', 'best_effort'], {
        default: 'all_succeed',
        description: 'Which steps must succeed for the state to succeed; best_effort asks for none.',
      }),
    ),
    ...queueTimeout,
    ...onDisruption,
  },
  'Runs several commands at once and waits for all.',
);

const SubworkflowState = state(
  'Subworkflow',
  {
    workflow_id: Type.String({
      minLength: 1,
      maxLength: limits.objectNameLength,
      description: 'Name or uid of a deployed workflow.',
    }),
    mode: Type.Optional(
      oneOf(['blocking', 'fire_and_forget'], {
        default: 'blocking',
        description: 'Whether the state waits for the end of the child.',
      }),
    ),
    result_key: Type.Optional(
      Type.String({
        pattern: stateNamePattern,
        description: "Blackboard key for the child's final Blackboard; blocking only.",
      }),
    ),
    input: Type.Optional(
      template("Template; the child's start input. Text that is not a JSON object becomes the value of its key input."),
    ),
    ...queueTimeout,
  },
  'Runs another workflow as a child.',
  subworkflowRules,
);

/** A state of any kind; `kind` is the discriminator. */
export const State = Type.Union(
  [
    AgentState,
    SystemState,
    HumanState,
    ParallelAgentsState,
    ContainerRunState,
    ParallelContainerRunState,
    SubworkflowState,
  ],
  { discriminator: { propertyName: 'kind' }, ...cel(...stateRules) },
);
export type State = Static<typeof State>;
export type StateOf<K extends StateKind> = Extract<State, { kind: K }>;
