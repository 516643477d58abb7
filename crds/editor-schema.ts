import { toJsonSchema } from './json-schema.ts';
import { type KindDefinition, kinds } from './kinds.ts';
import { apiVersion } from './labels.ts';
import { WorkflowManifest } from './schema/workflow-manifest.ts';
import { sourceOf } from './source-schema.ts';

const $schema = 'https://json-schema.org/draft/2020-12/schema';

/** JSON Schemas (2020-12) for editors, by the name of their file: one a kind, and one of the manifest form. */
export function editorSchemas(): ReadonlyMap<string, object> {
  return new Map([
    ...kinds.map((kind): [string, object] => [kind.singular, { $schema, ...resource(kind) }]),
    ['workflow-manifest', { $schema, ...toJsonSchema(sourceOf(WorkflowManifest)), title: 'Workflow manifest' }],
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
