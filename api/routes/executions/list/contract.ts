import { Type } from 'typebox';
import { limits } from '../../../../crds/limits.ts';
import { oneOf } from '../../../../crds/schema/parts.ts';
import { phases } from '../../../../crds/schema/workflow-execution-status.ts';
import { defineContract } from '../../../../lib/http/contract.ts';
import { ExecutionSummary, summaryExample } from '../execution-object.ts';

export const listExecutions = defineContract({
  operationId: 'listExecutions',
  method: 'get',
  path: '/v1/workflows/executions',
  tag: 'Executions',
  summary: 'List executions',
  description:
    'The newest first. A cursor stays valid while executions come and go: what is there from the first page to the ' +
    'last is listed exactly once.',
  access: 'bearer',
  query: Type.Object(
    {
      workflow: Type.Optional(
        Type.String({ minLength: 1, maxLength: 253, description: 'Only executions of this workflow, by name or id.' }),
      ),
      status: Type.Optional(oneOf(phases, { description: 'Only executions in this status.' })),
      limit: Type.Integer({
        minimum: 1,
        default: limits.pageSizeDefault,
        description: `Executions a page; more than ${limits.pageSizeMax} counts as ${limits.pageSizeMax}.`,
      }),
      cursor: Type.Optional(
        Type.String({ minLength: 1, maxLength: 256, description: '`next_cursor` of the page before.' }),
      ),
    },
    { additionalProperties: false },
  ),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      {
        executions: Type.Array(ExecutionSummary),
        next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Null on the last page.' }),
      },
      { additionalProperties: false },
    ),
    example: { executions: [summaryExample], next_cursor: null },
  },
  errors: [{ status: 400, error: 'invalid_request', when: 'The cursor is none that a list has given.' }],
});
