import { type Static, Type } from 'typebox';
import { apiVersion } from '../labels.ts';
import { limits } from '../limits.ts';
import { manifestNamePattern, mapOf, oneOf } from './parts.ts';
import { WorkflowSpec } from './workflow.ts';

const { version, description, input_schema, output_schema, output_template, ...specFields } = WorkflowSpec.properties;

/** Fields that the manifest keeps under `metadata` and the custom resource under `spec` (requirements AMB-060). */
export const movedFields = ['version', 'description', 'input_schema', 'output_schema', 'output_template'] as const;

const stringMap = (text: string) =>
  Type.Optional(mapOf(Type.String(), { maxProperties: limits.mapEntries, description: text }));

/** The manifest form of a workflow (spec 1 §2.6). Scope is no field of it (WF-MAN-15). */
export const WorkflowManifest = Type.Object(
  {
    apiVersion: oneOf([apiVersion]),
    kind: oneOf(['Workflow']),
    metadata: Type.Object(
      {
        name: Type.String({ pattern: manifestNamePattern, description: 'Name of the workflow.' }),
        version,
        description,
        labels: stringMap('Discovery labels.'),
        annotations: stringMap('Non-identifying metadata.'),
        input_schema,
        output_schema,
        output_template,
      },
      { additionalProperties: false },
    ),
    spec: Type.Object(specFields, { additionalProperties: false }),
  },
  { additionalProperties: false, description: 'The manifest form of a workflow.' },
);
export type WorkflowManifest = Static<typeof WorkflowManifest>;
