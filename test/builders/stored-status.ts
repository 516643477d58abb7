import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { parse } from 'yaml';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';

/** A part of a structural schema, as a CustomResourceDefinition has it. */
type Part = Readonly<Record<string, unknown>>;

const file = new URL('../../crds/generated/workflowexecutions.yaml', import.meta.url);

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value);

const mapped = (parts: unknown): Part =>
  Object.fromEntries(Object.entries(isPart(parts) ? parts : {}).map(([name, part]) => [name, strict(part)]));

/** The same in JSON Schema, with every field refused that the API server would drop without a word. */
function strict(part: unknown): unknown {
  if (!isPart(part)) return part;
  const { nullable, type, properties, items, additionalProperties, ...rest } = part;
  const schema: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !name.startsWith('x-kubernetes-')),
  );
  if (type !== undefined) schema['type'] = nullable === true ? [type, 'null'] : type;
  if (properties !== undefined) schema['properties'] = mapped(properties);
  if (items !== undefined) schema['items'] = strict(items);
  const keepsAll = part['x-kubernetes-preserve-unknown-fields'] === true;
  if (additionalProperties !== undefined) schema['additionalProperties'] = strict(additionalProperties);
  else if (properties !== undefined && !keepsAll) schema['additionalProperties'] = false;
  return schema;
}

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly status: Part } } };
    }[];
  };
}

let compiled: ValidateFunction | undefined;

function compile(): ValidateFunction {
  const { spec } = parse(readFileSync(file, 'utf8')) as Definition;
  const [version] = spec.versions;
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  formatsPlugin.default(ajv, ['date-time']);
  return ajv.compile(strict(version?.schema.openAPIV3Schema.properties.status) as object);
}

/**
 * Parts of a status that the API server would refuse or drop, by the CustomResourceDefinition that the chart installs;
 * empty where all of it would be stored. CEL rules are left to the server.
 */
export function unstorable(status: WorkflowExecutionStatus): string[] {
  compiled ??= compile();
  if (compiled(status)) return [];
  return (compiled.errors ?? []).map(({ instancePath, message, params }) =>
    [`status${instancePath}`, message, JSON.stringify(params)].join(' '),
  );
}
