import { Type } from 'typebox';
import { limits } from '../../../crds/limits.ts';
import { anyJson } from '../../../crds/schema/parts.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { unknownCursor } from '../../../lib/http/paging.ts';
import { Creation, idParams, listOf, listQuery, recordFields } from '../../registry/present.ts';
import { invalidRegistration, nameTaken, notOwn, unknownId } from '../../registry/refusals.ts';

const tag = 'Tool workflows';

/** Loose where a handler says more of a mistake than a schema can (spec 3 §7.1). */
const Step = Type.Object(
  {
    name: Type.String({ description: 'Unique; prefix of extracted values.' }),
    operation_id: Type.String({ description: 'An operationId of the API spec.' }),
    body_template: anyJson({ description: 'Handlebars text that renders the JSON body; {} where none is needed.' }),
    extractors: Type.Optional(anyJson({ description: 'Map from a variable to a JSONPath over the response.' })),
    on_error: anyJson({ description: 'AbortWorkflow, Continue, or {"RetryN": n}.' }),
  },
  { additionalProperties: false },
);

/** spec 3 §2.4. */
const Registration = Type.Object(
  {
    name: Type.String({ description: 'Name that agents call.' }),
    description: Type.String({ description: 'Shown in the listing of tools.' }),
    input_schema: anyJson({ description: 'JSON Schema of the arguments, with type: object.' }),
    api_spec_id: Type.String({ description: 'Id of the API spec of all steps.' }),
    steps: Type.Array(Step, { description: `1 to ${limits.toolSteps} operations, in their order.` }),
    tenant_id: Type.Optional(Type.String({ description: 'The tenant of the token; another one is refused.' })),
  },
  { additionalProperties: false },
);

const Registered = Type.Object(
  {
    ...Creation.properties,
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Parts of templates that are legal and probably mistakes, and a missing credential.',
      }),
    ),
  },
  { additionalProperties: false },
);
const Summary = Type.Object(
  {
    ...recordFields,
    description: Type.String(),
    api_spec_id: Type.Optional(Type.String()),
    step_count: Type.Integer(),
  },
  { additionalProperties: false },
);
const Record = Type.Object(
  {
    ...recordFields,
    description: Type.String(),
    input_schema: anyJson(),
    api_spec_id: Type.Optional(Type.String()),
    steps: Type.Array(Step),
  },
  { additionalProperties: false },
);

const step = {
  name: 'create',
  operation_id: 'createOrder',
  body_template: '{"sku":"{{input.sku}}"}',
  extractors: { id: '$.id' },
  on_error: 'AbortWorkflow',
};
const example = {
  name: 'order.create',
  description: 'Creates an order.',
  input_schema: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } },
  api_spec_id: '3f0c8f5e-9a51-4f1e-9d55-0f3a6b1c2d3e',
  steps: [step],
};
const identity = {
  id: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  name: 'order.create',
  scope: 'tenant',
  created_at: '2026-11-02T10:00:00Z',
};

export const registerToolWorkflow = defineContract({
  operationId: 'registerToolWorkflow',
  method: 'post',
  path: '/v1/workflows',
  tag,
  summary: 'Register a tool workflow',
  description: 'There is no update: delete it and register it again, under another id (spec 3 §3.2).',
  access: 'bearer',
  body: { kind: 'json', schema: Registration, maxBytes: 1024 * 1024, example },
  success: {
    kind: 'json',
    description: 'It is registered.',
    schema: Registered,
    example: { id: identity.id, name: identity.name },
  },
  invalidBody: invalidRegistration.error,
  errors: [invalidRegistration, nameTaken],
});

export const listToolWorkflows = defineContract({
  operationId: 'listToolWorkflows',
  method: 'get',
  path: '/v1/workflows',
  tag,
  summary: 'List tool workflows',
  description: 'Those of the tenant, and those that all tenants share.',
  access: 'bearer',
  query: listQuery,
  success: {
    kind: 'json',
    description: 'One page, by name.',
    schema: listOf(Summary),
    example: {
      items: [{ ...identity, description: example.description, api_spec_id: example.api_spec_id, step_count: 1 }],
      next_cursor: null,
    },
  },
  errors: [unknownCursor],
});

export const readToolWorkflow = defineContract({
  operationId: 'readToolWorkflow',
  method: 'get',
  path: '/v1/workflows/{id}',
  tag,
  summary: 'Read a tool workflow',
  access: 'bearer',
  params: idParams,
  success: { kind: 'json', description: 'The full record.', schema: Record, example: { ...example, ...identity } },
  errors: [unknownId],
});

export const deleteToolWorkflow = defineContract({
  operationId: 'deleteToolWorkflow',
  method: 'delete',
  path: '/v1/workflows/{id}',
  tag,
  summary: 'Delete a tool workflow',
  description: 'Invocations under way finish; further ones are answered with 404. No event is emitted.',
  access: 'bearer',
  params: idParams,
  success: { kind: 'none', description: 'It is deleted.' },
  errors: [unknownId, notOwn],
});

export const contracts: readonly Contract[] = [
  registerToolWorkflow,
  listToolWorkflows,
  readToolWorkflow,
  deleteToolWorkflow,
];
