import { Type } from 'typebox';
import { oneOf, timestamp } from '../../../../crds/schema/parts.ts';
import { defineContract } from '../../../../lib/http/contract.ts';
import { unknownExecution } from '../../not-found.ts';
import { ExecutionId } from '../execution-id.ts';

export const cancelExecution = defineContract({
  operationId: 'cancelExecution',
  method: 'post',
  path: '/v1/workflows/executions/{execution_id}/cancel',
  tag: 'Executions',
  summary: 'Cancel an execution',
  description:
    'Stops an execution, its child executions and their pods. The caller is recorded. Cancelling again changes ' +
    'nothing: the answer has the first caller and time, and the status of now.',
  access: 'bearer',
  params: ExecutionId,
  body: {
    kind: 'json',
    required: false,
    schema: Type.Object(
      { reason: Type.Optional(Type.String({ maxLength: 1_024, description: 'Why.' })) },
      { additionalProperties: false },
    ),
    example: { reason: 'wrong branch' },
  },
  success: {
    kind: 'json',
    description: 'The execution is being stopped, or was cancelled before.',
    schema: Type.Object(
      {
        status: oneOf(['cancelling', 'cancelled'], {
          description: '`cancelling` until its pods and children have stopped.',
        }),
        by: Type.Optional(
          Type.String({
            description: 'The user who cancelled it: you, or an earlier caller. Absent: it ended with its parent.',
          }),
        ),
        at: Type.Optional(timestamp({ description: 'When that was.' })),
      },
      { additionalProperties: false },
    ),
    example: { status: 'cancelling', by: 'ada', at: '2026-01-02T03:04:05.000Z' },
  },
  errors: [unknownExecution, { status: 409, error: 'conflict', when: 'The execution has completed or failed.' }],
});
