import { Type } from 'typebox';
import { limits } from '../../../../crds/limits.ts';
import { oneOf } from '../../../../crds/schema/parts.ts';
import { defineContract } from '../../../../lib/http/contract.ts';
import { unknownExecution } from '../../not-found.ts';
import { ExecutionId } from '../execution-id.ts';

export const readExecutionLogs = defineContract({
  operationId: 'readExecutionLogs',
  method: 'get',
  path: '/v1/workflows/executions/{execution_id}/logs',
  tag: 'Executions',
  summary: 'Read what commands wrote',
  description:
    'The output of the commands of an execution: of a running one from its pod, of a finished one from the output ' +
    'store, byte for byte. Without `stream` a finished command gives its stdout and then its stderr, a running one ' +
    'both as they were written. Several commands follow one another in the order in which their states ran, steps of ' +
    'a parallel state by name; nothing is put between them.',
  access: 'bearer',
  params: ExecutionId,
  query: Type.Object(
    {
      state: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description: 'Only of this state.' })),
      visit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: limits.stateVisitsMax, description: 'Only of this visit of the state.' }),
      ),
      step: Type.Optional(
        Type.String({ minLength: 1, maxLength: 63, description: 'Only of this step of a parallel state.' }),
      ),
      stream: Type.Optional(oneOf(['stdout', 'stderr'], { description: 'Only this stream.' })),
      follow: Type.Boolean({
        default: false,
        description: 'Continue until the execution ends, or the state or visit that was named.',
      }),
    },
    { additionalProperties: false },
  ),
  success: {
    kind: 'text',
    description: 'The output. The bytes are those that the commands wrote, whatever their encoding.',
    mediaType: 'text/plain; charset=utf-8',
    example: 'Hello, Ada!\n',
  },
  errors: [
    unknownExecution,
    {
      status: 404,
      error: 'log_not_found',
      when:
        'No command of that state, visit or step has run; `message` lists the logs there are. Not with `follow`, ' +
        'which waits for it.',
    },
  ],
});
