import { Type } from 'typebox';
import { CliToolSpec } from '../../../crds/schema/cli-tool.ts';
import { anyJson } from '../../../crds/schema/parts.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { unknownCursor } from '../../../lib/http/paging.ts';
import { Creation, idParams, listOf, listQuery, recordFields } from '../../registry/present.ts';
import { invalidRegistration, nameTaken, notOwn, unknownId } from '../../registry/refusals.ts';

const tag = 'CLI tools';
const { name: _name, input_schema: _schema, ...fields } = CliToolSpec.properties;

/** requirements AMB-196. */
const Registration = Type.Object(
  {
    ...fields,
    name: Type.String({ description: 'Name that agents call.' }),
    input_schema: anyJson({ description: 'JSON Schema of the arguments, with type: object.' }),
    tenant_id: Type.Optional(Type.String({ description: 'The tenant of the token; another one is refused.' })),
  },
  { additionalProperties: false },
);
const Record = Type.Object({ ...fields, input_schema: anyJson(), ...recordFields }, { additionalProperties: false });

const example = {
  name: 'text.count',
  description: 'Counts the words of a text.',
  input_schema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  image: 'registry.example.org/tools/count:1.0',
  command: ['count', '--words', '{{input.text}}'],
};
const identity = {
  id: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  name: example.name,
  scope: 'tenant',
  created_at: '2026-11-02T10:00:00Z',
};

export const registerCliTool = defineContract({
  operationId: 'registerCliTool',
  method: 'post',
  path: '/v1/cli-tools',
  tag,
  summary: 'Register a command in a container as a tool',
  access: 'bearer',
  body: { kind: 'json', schema: Registration, maxBytes: 1024 * 1024, example },
  success: {
    kind: 'json',
    description: 'It is registered.',
    schema: Creation,
    example: { id: identity.id, name: identity.name },
  },
  invalidBody: invalidRegistration.error,
  errors: [invalidRegistration, nameTaken],
});

export const listCliTools = defineContract({
  operationId: 'listCliTools',
  method: 'get',
  path: '/v1/cli-tools',
  tag,
  summary: 'List CLI tools',
  description: 'Those of the tenant, and those that all tenants share.',
  access: 'bearer',
  query: listQuery,
  success: {
    kind: 'json',
    description: 'One page, by name.',
    schema: listOf(Record),
    example: { items: [{ ...example, ...identity }], next_cursor: null },
  },
  errors: [unknownCursor],
});

export const readCliTool = defineContract({
  operationId: 'readCliTool',
  method: 'get',
  path: '/v1/cli-tools/{id}',
  tag,
  summary: 'Read a CLI tool',
  access: 'bearer',
  params: idParams,
  success: { kind: 'json', description: 'The full record.', schema: Record, example: { ...example, ...identity } },
  errors: [unknownId],
});

export const deleteCliTool = defineContract({
  operationId: 'deleteCliTool',
  method: 'delete',
  path: '/v1/cli-tools/{id}',
  tag,
  summary: 'Delete a CLI tool',
  access: 'bearer',
  params: idParams,
  success: { kind: 'none', description: 'It is deleted.' },
  errors: [unknownId, notOwn],
});

export const contracts: readonly Contract[] = [registerCliTool, listCliTools, readCliTool, deleteCliTool];
