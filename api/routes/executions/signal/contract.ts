import { Type } from 'typebox';
import { defineContract } from '../../../../lib/http/contract.ts';
import { unknownExecution } from '../../not-found.ts';
import { unmatchedResponse } from '../../unmatched-response.ts';
import { ExecutionId } from '../execution-id.ts';

/** spec 1 §4.9, requirements AMB-055. */
export const signalExecution = defineContract({
  operationId: 'signalExecution',
  method: 'post',
  path: '/v1/workflows/executions/{execution_id}/signal',
  tag: 'Executions',
  summary: 'Answer a waiting Human state',
  description:
    'Resumes the Human state that waits, with a response that its rules compare. The execution records the subject of ' +
    'the token. Where several arrive at the same time exactly one is taken.',
  access: 'bearer',
  params: ExecutionId,
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        response: Type.String({ maxLength: 65_536, description: 'The text that `input_equals` rules compare.' }),
        feedback: Type.Optional(
          Type.String({ maxLength: 65_536, description: 'Text of {{human.feedback}} instead of the response.' }),
        ),
        state: Type.Optional(
          Type.String({ minLength: 1, maxLength: 63, description: 'Answer only if this is the state that waits.' }),
        ),
      },
      { additionalProperties: false },
    ),
    example: { response: 'approved' },
  },
  success: {
    kind: 'json',
    description: 'The answer is recorded.',
    schema: Type.Object({ status: Type.Literal('signaled') }, { additionalProperties: false }),
    example: { status: 'signaled' },
  },
  errors: [
    unknownExecution,
    unmatchedResponse,
    {
      status: 409,
      error: 'conflict',
      when: 'No state waits, another state waits, or another caller was first; `message` says which, and who.',
    },
  ],
});
