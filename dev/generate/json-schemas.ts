import { toJsonSchema } from '../../crds/json-schema.ts';
import { type KindDefinition, kinds } from '../../crds/kinds.ts';
import { apiVersion } from '../../crds/labels.ts';
import { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';
import { sourceOf } from '../../crds/source-schema.ts';

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** JSON Schemas for editors and other tools: one for each kind, and one for the manifest form of a workflow. */
export function jsonSchemas(): [path: string, text: string][] {
  const manifest = { ...toJsonSchema(sourceOf(WorkflowManifest)), title: 'Workflow manifest' };
  return [
    ...kinds.map((kind): [string, object] => [kind.singular, resource(kind)]),
    ['workflow-manifest', manifest] as const,
  ].map(([name, schema]) => [
    `crds/generated/json-schema/${name}.json`,
    `${JSON.stringify({ $schema: dialect, ...schema }, undefined, 2)}\n`,
  ]);
}

const resource = ({ kind, description, spec }: KindDefinition): object => ({
  title: kind,
  description,
  type: 'object',
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
  properties: {
    apiVersion: { const: apiVersion },
    kind: { const: kind },
    metadata: { type: 'object' },
    spec: toJsonSchema(sourceOf(spec)),
    status: { type: 'object', description: 'Written by the controllers.' },
  },
  additionalProperties: false,
});
