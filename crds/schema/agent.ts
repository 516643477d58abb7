import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { pathPattern } from './path-pattern.ts';
import { patternRule } from '../rules/pattern-rule.ts';
import { toolGlobPattern } from '../tool-name.ts';
import { Conditions } from './condition.ts';
import type { KubernetesObject } from './object.ts';
import {
  anyObject,
  anySchema,
  cel,
  mapOf,
  memoryPattern,
  oneOf,
  semanticVersionPattern,
  timestamp,
  weekPattern,
} from './parts.ts';

/** A tool that an agent may use. A manifest may give the name alone (spec 1 §2.1, spec 3 §10.5). */
const AgentTool = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: limits.toolNameLength,
      description:
        'Name of a tool, such as fs.read; a name that ends in .* offers every tool that begins so. Names under svc.edge. need a writer who may run fleets.',
    }),
    executor: Type.Optional(Type.String({ maxLength: 128, description: 'Where the tool runs, such as builtin:cmd.' })),
    config: Type.Optional(anyObject({ description: 'Settings of this tool for this agent.' })),
  },
  { additionalProperties: false },
);
export type AgentTool = Static<typeof AgentTool>;

const modelAlias = (description: string) => Type.String({ minLength: 1, maxLength: 63, description });

const seconds = (description: string, maximum: number) => Type.Integer({ minimum: 1, maximum, description });

/** The judge that looks at each tool call before it runs (spec 3 §10.1). A manifest may give `true`. */
const ToolValidation = Type.Object(
  {
    enabled: Type.Boolean({ default: true, description: 'Whether calls are judged.' }),
    model: Type.Optional(modelAlias('Model alias that judges. Default: the model of the agent.')),
    timeout_seconds: Type.Optional(
      seconds('Longest time of a verdict, from its turn at the provider on. Default 30.', 600),
    ),
  },
  { additionalProperties: false, description: 'The semantic judge of tool calls.' },
);

const Validation = Type.Object(
  {
    model: Type.Optional(modelAlias('Model alias that judges an iteration. Default: the model of the agent.')),
    agent: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.objectNameLength,
        description: 'Name or id of an agent that judges an iteration in place of a model.',
      }),
    ),
    criteria: Type.Optional(
      Type.String({ maxLength: limits.templateLength, description: 'The rules that the judge applies.' }),
    ),
    threshold: Type.Number({ minimum: 0, maximum: 1, description: 'The least score that an answer is accepted with.' }),
  },
  { additionalProperties: false, description: 'A judge that accepts the answer of an iteration or asks for another.' },
);

/** Answers that one execution may give before it fails. */
export const agentIterationsMax = 50;

const AgentExecutionSettings = Type.Object(
  {
    max_iterations: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: agentIterationsMax,
        default: 10,
        description: 'How often an answer may be refused and asked for again, the first time included.',
      }),
    ),
    timeout: Type.Optional(
      Type.String({
        pattern: weekPattern,
        // A rule's cost is estimated from it.
        maxLength: 7,
        default: '15m',
        description: 'Longest time of one execution, 168h (7 days) at most.',
        ...cel(patternRule(weekPattern)),
      }),
    ),
    validation: Type.Optional(Validation),
    tool_validation: Type.Optional(ToolValidation),
    max_tool_calls: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000, default: 100, description: 'Tool calls of one execution.' }),
    ),
    max_tokens: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'Tokens of one execution, input and output.' }),
    ),
    max_cost_usd: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Cost of one execution by the prices of the node configuration.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Bounds of one execution.' },
);

const toolGlob = Type.String({
  minLength: 1,
  maxLength: limits.toolNameLength,
  pattern: toolGlobPattern,
  description: 'Name of a tool, in which * is any text. There is no other wildcard.',
});

/** Tools whose calls wait for a person (ADR 0082). */
const Approval = Type.Object(
  {
    tools: Type.Array(toolGlob, {
      minItems: 1,
      maxItems: limits.approvalPatterns,
      description: 'Tools whose calls wait, as globs, such as cmd.run or svc.workflow.*.',
    }),
    timeout_seconds: Type.Optional(
      seconds('Longest wait for an answer; a call without one is refused. Default 600.', 604_800),
    ),
  },
  { additionalProperties: false, description: 'Tool calls that run only when a person has approved them.' },
);

const Filesystem = Type.Object(
  {
    read: Type.Optional(Type.Array(pathPattern, { maxItems: 50, description: 'Paths that may be read.' })),
    write: Type.Optional(Type.Array(pathPattern, { maxItems: 50, description: 'Paths that may be written and read.' })),
  },
  {
    additionalProperties: false,
    description: 'Paths that fs.* and svc.file.* tools may touch. Default: the workspace and the mounts.',
  },
);

const AgentSecurity = Type.Object(
  {
    context: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.objectNameLength,
        description: 'Name of a SecurityContext here. Default: default.',
      }),
    ),
    filesystem: Type.Optional(Filesystem),
  },
  { additionalProperties: false, description: 'Resources that the agent may use.' },
);

export const AgentMount = Type.Object(
  {
    volume: Type.String({ minLength: 1, maxLength: limits.objectNameLength, description: 'Name of a Volume here.' }),
    mount_path: Type.String({ pattern: '^/', maxLength: 1_024, description: 'Absolute path in the container.' }),
    access_mode: oneOf(['read-write', 'read-only'], { description: 'Whether it may be written to.' }),
  },
  { additionalProperties: false },
);
export type AgentMount = Static<typeof AgentMount>;

/** Absent, it is as if it were empty. */
const Runtime = Type.Object(
  {
    language: Type.Optional(
      Type.String({ minLength: 1, maxLength: 63, description: 'Language of the agent program.' }),
    ),
    version: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description: 'Version of the language.' })),
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 63,
        default: 'default',
        description: 'Model alias of the node configuration.',
      }),
    ),
    image: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.imageReferenceLength,
        description:
          'Image of the container. Default: the image of the language and version, else the one for System commands.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Where the agent runs, and on which model.' },
);

/** spec 1 §2.1; a manifest keeps name, version, description and labels under `metadata`. */
export const AgentSpec = Type.Object(
  {
    version: Type.String({
      pattern: semanticVersionPattern,
      maxLength: 128,
      description: 'Semantic version. A version that exists is replaced only with force.',
      ...cel(patternRule(semanticVersionPattern)),
    }),
    description: Type.Optional(Type.String({ maxLength: 4_096, description: 'The purpose of the agent.' })),
    runtime: Type.Optional(Runtime),
    task: Type.Object(
      {
        instruction: Type.String({
          minLength: 1,
          maxLength: limits.templateLength,
          description: 'Task instruction. Template: {{intent}} and {{input}} name those of the execution.',
        }),
      },
      { additionalProperties: false, description: 'The task of the agent.' },
    ),
    tools: Type.Optional(
      Type.Array(AgentTool, {
        maxItems: limits.agentTools,
        description: 'Tools that the agent may use.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
    ),
    execution: Type.Optional(AgentExecutionSettings),
    approval: Type.Optional(Approval),
    security: Type.Optional(AgentSecurity),
    volumes: Type.Optional(
      Type.Array(AgentMount, {
        maxItems: limits.volumes,
        description: 'Volumes of the namespace of an execution, which each execution mounts.',
      }),
    ),
    env: Type.Optional(
      mapOf(Type.String({ maxLength: 4_096 }), {
        maxProperties: 100,
        description: 'Environment of commands in the container.',
      }),
    ),
    resources: Type.Optional(
      Type.Object(
        {
          cpu: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Millicores.' })),
          memory: Type.Optional(
            Type.String({ pattern: memoryPattern, maxLength: limits.quantityLength, description: 'Such as 512Mi.' }),
          ),
        },
        { additionalProperties: false, description: 'Resources of the container.' },
      ),
    ),
    output_schema: Type.Optional(
      anySchema({ description: 'JSON Schema of the answer. An answer that breaks it is asked for again.' }),
    ),
  },
  { additionalProperties: false },
);
export type AgentSpec = Static<typeof AgentSpec>;

const AgentVersion = Type.Object(
  {
    version: Type.String(),
    revision: Type.String({ description: 'Name of the ControllerRevision that holds this content.' }),
    registered_at: timestamp(),
  },
  { additionalProperties: false },
);

export const AgentStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    versions: Type.Optional(
      Type.Array(AgentVersion, {
        maxItems: limits.workflowVersionsListed,
        description: 'Stored versions, the newest first.',
      }),
    ),
    revision: Type.Optional(Type.String({ description: 'Name of the ControllerRevision that holds this spec.' })),
    model: Type.Optional(
      Type.String({ description: 'Model alias that the agent asks: that of the spec, or default.' }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.warningLength }), {
        maxItems: limits.warnings,
        description: 'Parts of the definition that are legal and probably mistakes.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type AgentStatus = Static<typeof AgentStatus>;

export type Agent = KubernetesObject<'Agent', AgentSpec, AgentStatus>;
