import { Type } from 'typebox';
import { defineContract } from '../../../../lib/http/contract.ts';
import { unknownExecution } from '../../not-found.ts';
import { ExecutionId } from '../execution-id.ts';
import { Execution, executionExample } from '../execution-object.ts';

/** spec 1 §4.9, requirements AMB-154. */
export const readExecution = defineContract({
  operationId: 'readExecution',
  method: 'get',
  path: '/v1/workflows/executions/{execution_id}',
  tag: 'Executions',
  summary: 'Read an execution',
  description:
    'Status, history, Blackboard and output of an execution. One that is gone is read from the archive, ' +
    'where there is one: by its id, or the one that had the name last. `final_output` is there in full up to 10 MiB; a part of ' +
    'another value that is too large is shown as `{"ref", "bytes", "truncated"}`.',
  access: 'bearer',
  params: ExecutionId,
  query: Type.Object(
    {
      full: Type.Boolean({
        default: false,
        description:
          'Put large parts in their places, up to 10 MiB in all: `final_output` first, then the Blackboard by its ' +
          'keys. Parts that do not fit any more stay references.',
      }),
    },
    { additionalProperties: false },
  ),
  success: { kind: 'json', description: 'The execution.', schema: Execution, example: executionExample },
  errors: [unknownExecution],
});
