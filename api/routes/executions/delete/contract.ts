import { Type } from 'typebox';
import { oneOf } from '../../../../crds/schema/parts.ts';
import { defineContract } from '../../../../lib/http/contract.ts';
import { unknownExecution } from '../../not-found.ts';
import { ExecutionId } from '../execution-id.ts';

export const deleteExecution = defineContract({
  operationId: 'deleteExecution',
  method: 'delete',
  path: '/v1/workflows/executions/{execution_id}',
  tag: 'Executions',
  summary: 'Delete an execution',
  description: 'Deletes an execution with its outputs, children and pods; this stops a running one.',
  access: 'bearer',
  params: ExecutionId,
  success: {
    kind: 'json',
    description:
      'The execution is deleted, or is being deleted while its record is written. `deleting`: a finalizer of others holds it.',
    schema: Type.Object({ status: oneOf(['deleted', 'deleting']) }, { additionalProperties: false }),
    example: { status: 'deleted' },
  },
  errors: [unknownExecution],
});
