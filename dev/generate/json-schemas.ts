import { editorSchemas } from '../../crds/editor-schema.ts';

/** JSON Schemas for editors and other tools: one for each kind, and one for the manifest form of a workflow. */
export function jsonSchemas(): [path: string, text: string][] {
  return [...editorSchemas()].map(([name, schema]) => [
    `crds/generated/json-schema/${name}.json`,
    `${JSON.stringify(schema, undefined, 2)}\n`,
  ]);
}
