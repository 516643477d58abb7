import { Type } from 'typebox';
import { oneOf } from '../../../../crds/schema/parts.ts';
import { phases } from '../../../../crds/schema/workflow-execution-status.ts';
import { defineContract } from '../../../../lib/http/contract.ts';
import { nextCursor, pageQuery, unknownCursor } from '../../../../lib/http/paging.ts';
import { noArchive } from '../../archived.ts';
import { ExecutionSummary, summaryExample } from '../execution-object.ts';

export const listExecutions = defineContract({
  operationId: 'listExecutions',
  method: 'get',
  path: '/v1/workflows/executions',
  tag: 'Executions',
  summary: 'List executions',
  description:
    'The newest first, those of one second by their ids. A cursor stays valid while executions come and go: what is ' +
    'there from the first page to the last is listed exactly once.',
  access: 'bearer',
  query: Type.Object(
    {
      workflow: Type.Optional(
        Type.String({ minLength: 1, maxLength: 253, description: 'Only executions of this workflow, by name or id.' }),
      ),
      status: Type.Optional(oneOf(phases, { description: 'Only executions in this status.' })),
      archived: Type.Boolean({
        default: false,
        description:
          'List what the archive holds, the last to end first, also of executions that are gone. A page may then be ' +
          'short, or empty, and have a next one.',
      }),
      ...pageQuery('Executions'),
    },
    { additionalProperties: false },
  ),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      {
        executions: Type.Array(ExecutionSummary),
        next_cursor: nextCursor,
      },
      { additionalProperties: false },
    ),
    example: { executions: [summaryExample], next_cursor: null },
  },
  errors: [unknownCursor, noArchive],
});
