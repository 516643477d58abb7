import { type Static, Type } from 'typebox';
import { labelNamePattern } from '../label-name.ts';
import { apiVersion } from '../labels.ts';
import { limits } from '../limits.ts';
import { AgentSpec } from './agent.ts';
import { mapOf, oneOf } from './parts.ts';

const { version, description, tools, execution, ...specFields } = AgentSpec.properties;

/** Fields that the manifest keeps under `metadata` and the custom resource under `spec` (spec 1 §2.1). */
export const movedAgentFields = ['version', 'description'] as const;

const { tool_validation, ...executionFields } = execution.properties;

const stringMap = (text: string) =>
  Type.Optional(mapOf(Type.String(), { maxProperties: limits.mapEntries, description: text }));

/**
 * The manifest form of an agent (spec 1 §2.1). A tool may be given by its name alone, and `tool_validation` as `true` or
 * `false`; both are read as the fields of the custom resource.
 */
export const AgentManifest = Type.Object(
  {
    apiVersion: oneOf([apiVersion]),
    kind: oneOf(['Agent']),
    metadata: Type.Object(
      {
        name: Type.String({
          pattern: labelNamePattern,
          description: 'Name of the agent: up to 63 lower-case letters, digits and dashes.',
        }),
        version,
        description,
        labels: stringMap('Discovery labels.'),
        annotations: stringMap('Non-identifying metadata.'),
      },
      { additionalProperties: false },
    ),
    spec: Type.Object(
      {
        ...specFields,
        tools: Type.Optional(
          Type.Array(Type.Union([Type.String({ minLength: 1, maxLength: limits.toolNameLength }), tools.items]), {
            maxItems: limits.agentTools,
            description: 'Tools that the agent may use: names, or names with settings.',
          }),
        ),
        execution: Type.Optional(
          Type.Object(
            { ...executionFields, tool_validation: Type.Optional(Type.Union([Type.Boolean(), tool_validation])) },
            { additionalProperties: false, description: 'Bounds of one execution.' },
          ),
        ),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false, description: 'The manifest form of an agent.' },
);

/** A manifest whose short forms are written out. */
export interface FullAgentManifest extends Omit<Static<typeof AgentManifest>, 'spec'> {
  readonly spec: Omit<AgentSpec, (typeof movedAgentFields)[number]>;
}
