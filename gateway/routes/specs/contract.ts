import { Type } from 'typebox';
import { limits } from '../../../crds/limits.ts';
import { networkPattern } from '../../../crds/network.ts';
import { ApiCredentials } from '../../../crds/schema/api-spec.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { unknownCursor } from '../../../lib/http/paging.ts';
import { Creation, idParams, listOf, listQuery, recordFields } from '../../registry/present.ts';
import { invalidRegistration, nameTaken, notOwn, unknownId } from '../../registry/refusals.ts';

const tag = 'API specs';

const text = (description: string) => Type.Optional(Type.String({ description }));
const networks = Type.Optional(
  Type.Array(Type.String({ pattern: networkPattern, maxLength: 49 }), {
    maxItems: 16,
    description: 'Internal networks in which the upstream may be, in CIDR form; an svc:admin sets it.',
  }),
);

/** requirements AMB-196. */
const Registration = Type.Object(
  {
    name: Type.String({ description: 'Name of the API.' }),
    description: text('The API, in words.'),
    server_url: text('Base URL of all operations. Default: the first server of the document.'),
    document: Type.String({ description: 'The OpenAPI 3.0 or 3.1 document, JSON or YAML, as text; 5 MiB at most.' }),
    credentials: Type.Optional(ApiCredentials),
    allow_internal_addresses: networks,
    tenant_id: text('The tenant of the token; another one is refused.'),
  },
  { additionalProperties: false },
);

const Registered = Type.Object(
  {
    ...Creation.properties,
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Parts of the document that are legal and probably mistakes, and a missing credential.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** It names the Secret of credentials and never shows a value. */
const Record = Type.Object(
  {
    ...recordFields,
    description: text('The API, in words.'),
    server_url: text('As registered.'),
    credentials: Type.Optional(ApiCredentials),
    allow_internal_addresses: networks,
    title: text('Title in the document.'),
    server: text('Base URL of operations that name no server of their own.'),
    operation_count: Type.Optional(Type.Integer({ description: 'Operations that steps can name.' })),
  },
  { additionalProperties: false },
);

const document = '{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":{}}';
const secret = { name: 'orders-token' };
const record = {
  id: '3f0c8f5e-9a51-4f1e-9d55-0f3a6b1c2d3e',
  name: 'orders',
  scope: 'tenant',
  created_at: '2026-11-02T10:00:00Z',
  server_url: 'https://orders.example.com',
  credentials: { kind: 'bearer', secret },
};

/**
 * A text in JSON takes more bytes than the text itself. A quote, a backslash and an end of line take two for one.
 * Writers that keep to ASCII take three for each byte of another character. The document is counted when it is read.
 */
const bodyBytes = 3 * limits.apiDocumentBytes + 1024 * 1024;

export const registerApiSpec = defineContract({
  operationId: 'registerApiSpec',
  method: 'post',
  path: '/v1/specs',
  tag,
  summary: 'Register an API by its OpenAPI document',
  access: 'bearer',
  body: {
    kind: 'json',
    schema: Registration,
    maxBytes: bodyBytes,
    example: { name: 'orders', server_url: record.server_url, document, credentials: record.credentials },
  },
  success: {
    kind: 'json',
    description: 'It is registered.',
    schema: Registered,
    example: { id: record.id, name: record.name },
  },
  invalidBody: invalidRegistration.error,
  errors: [invalidRegistration, nameTaken],
});

export const listApiSpecs = defineContract({
  operationId: 'listApiSpecs',
  method: 'get',
  path: '/v1/specs',
  tag,
  summary: 'List APIs',
  description: 'Those of the tenant, and those that all tenants share.',
  access: 'bearer',
  query: listQuery,
  success: {
    kind: 'json',
    description: 'One page, by name.',
    schema: listOf(Record),
    example: { items: [record], next_cursor: null },
  },
  errors: [unknownCursor],
});

export const readApiSpec = defineContract({
  operationId: 'readApiSpec',
  method: 'get',
  path: '/v1/specs/{id}',
  tag,
  summary: 'Read an API',
  access: 'bearer',
  params: idParams,
  success: { kind: 'json', description: 'The record, without the document.', schema: Record, example: record },
  errors: [unknownId],
});

export const deleteApiSpec = defineContract({
  operationId: 'deleteApiSpec',
  method: 'delete',
  path: '/v1/specs/{id}',
  tag,
  summary: 'Delete an API',
  description: 'Calls of tool workflows that name it are answered with 404. Those under way run to their end.',
  access: 'bearer',
  params: idParams,
  success: {
    kind: 'json',
    description: 'It is deleted, and tool workflows name it still.',
    schema: Type.Object({
      id: Type.String(),
      warnings: Type.Array(Type.String(), { description: 'Tool workflows whose calls fail now.' }),
    }),
    example: {
      id: record.id,
      warnings: ['calls of 1 tool workflow are answered 404 now: tenant-acme/place; delete it, or give it another API'],
    },
    bodiless: { 204: 'It is deleted, and no tool workflow names it.' },
  },
  errors: [unknownId, notOwn],
});

export const contracts: readonly Contract[] = [registerApiSpec, listApiSpecs, readApiSpec, deleteApiSpec];
