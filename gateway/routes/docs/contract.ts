import { Type } from 'typebox';
import { defineContract } from '../../../lib/http/contract.ts';

/** The OpenAPI document of the other operations; it does not list itself. */
export const readOpenApi = defineContract({
  operationId: 'readOpenApi',
  method: 'get',
  path: '/openapi.json',
  tag: 'Documentation',
  summary: 'Read the OpenAPI document',
  access: 'public',
  success: {
    kind: 'json',
    description: 'The document.',
    schema: Type.Object({ openapi: Type.Literal('3.1.1') }),
    example: { openapi: '3.1.1' },
  },
  errors: [],
});
