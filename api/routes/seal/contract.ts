import { Type } from 'typebox';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { envelopeBody, envelopeErrors } from '../../../lib/envelope/index.ts';
import { transportError } from '../../../lib/envelope/rpc-error.ts';

const result = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()]),
  result: Type.Object({
    content: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
    isError: Type.Boolean(),
  }),
});

const invoke = {
  method: 'post',
  tag: 'Tools',
  summary: 'Call a tool',
  description:
    'Takes a signed envelope (docs/tools.md), which proves by itself who calls: no bearer token is needed. Refusals of calls ' +
    'are JSON-RPC objects.',
  access: 'signature',
  security: [],
  body: envelopeBody,
  success: {
    kind: 'json',
    description: 'The answer of the tool; `isError` is true where the tool itself failed.',
    schema: result,
    example: { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'hello' }], isError: false } },
  },
  errors: envelopeErrors,
  errorBody: transportError,
} as const satisfies Omit<Contract, 'operationId' | 'path'>;

/** spec 1 §4.4, spec 3 §4.2: two paths of one operation. */
export const invokeTool = defineContract({ ...invoke, operationId: 'invokeTool', path: '/v1/seal/invoke' });
export const invokeToolAlias = defineContract({ ...invoke, operationId: 'invokeToolAlias', path: '/v1/invoke' });

export const contracts: readonly Contract[] = [invokeTool, invokeToolAlias];
