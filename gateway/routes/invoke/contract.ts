import { Type } from 'typebox';
import { envelopeBody, envelopeErrors } from '../../../lib/envelope/index.ts';
import { transportError } from '../../../lib/envelope/rpc-error.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';

const result = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()]),
  result: Type.Object({
    content: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
    structuredContent: Type.Optional(Type.Unknown()),
    isError: Type.Boolean(),
  }),
});

const invoke = {
  method: 'post',
  tag: 'Tools',
  summary: 'Call a tool',
  description:
    'Takes a signed envelope (docs/tools.md). Errors are JSON-RPC objects; `error.data.code` is 1003 for a timestamp ' +
    'outside the freshness window and 1004 for a signature that does not verify.',
  access: 'signature',
  security: [],
  body: envelopeBody,
  success: {
    kind: 'json',
    description: 'The answer of the tool; `isError` is true where the tool itself failed.',
    schema: result,
    example: { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'hello' }], isError: false } },
  },
  errors: [
    ...envelopeErrors,
    {
      status: 400,
      error: '-32602',
      rpc: -32_602,
      when: 'The controllers refuse the tool or its API, or it made an invalid request of the arguments: `data.error` is `Validation`.',
    },
    {
      status: 404,
      error: '-32000',
      rpc: -32_000,
      when: 'Something that the tool needs is gone: `data.error` is `NotFound`.',
    },
    {
      status: 429,
      error: '-32000',
      rpc: -32_000,
      when: "The tenant's quota has no room for the run of a CLI tool: `data.error` is `QuotaExceeded`.",
    },
    {
      status: 503,
      error: '-32603',
      rpc: -32_603,
      when: 'The namespace of the tenant does not take the run of a CLI tool yet: `data.error` is `NotReady`; try again.',
    },
  ],
  errorBody: transportError,
} as const satisfies Omit<Contract, 'operationId' | 'path'>;

/** spec 3 §4.2: two paths of one operation. */
export const invokeTool = defineContract({ ...invoke, operationId: 'invokeTool', path: '/v1/invoke' });
export const invokeToolAlias = defineContract({ ...invoke, operationId: 'invokeToolAlias', path: '/v1/seal/invoke' });
