import { Type } from 'typebox';
import { labelNamePattern } from '../../../../crds/label-name.ts';
import { limits } from '../../../../crds/limits.ts';
import { anyJson } from '../../../../crds/schema/parts.ts';
import { defineContract, type ErrorContract } from '../../../../lib/http/contract.ts';
import { unknownExecution, unknownVersion, unknownWorkflow } from '../../not-found.ts';
import { quotaExceeded } from '../../workflows/errors.ts';
import { ExecutionId } from '../execution-id.ts';

const name = Type.Optional(
  Type.String({
    pattern: labelNamePattern,
    maxLength: limits.nameLength,
    description: 'Name of the new execution; absent: a name is made up.',
  }),
);

const input = Type.Optional(
  anyJson({
    description:
      'Another input, whole; any other value than an object becomes `{"input": …}`. Absent: that of the execution.',
  }),
);

const id = 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22';
const started = {
  kind: 'json' as const,
  description: 'The new execution exists and will run.',
  schema: Type.Object(
    { execution_id: Type.String({ format: 'uuid', description: 'Id of the new execution.' }) },
    { additionalProperties: false },
  ),
  example: { execution_id: id },
};
const taken: ErrorContract = { status: 409, error: 'already_exists', when: 'There is an execution of that name.' };
const privateWorkflow: ErrorContract = {
  ...unknownWorkflow,
  when: 'The execution ran a workflow of another user.',
};

export const rerunExecution = defineContract({
  operationId: 'rerunExecution',
  method: 'post',
  path: '/v1/workflows/executions/{execution_id}/rerun',
  tag: 'Executions',
  summary: 'Run an execution again',
  description:
    'Starts a new execution with the same revision of the workflow, input, intent and Blackboard pairs.\n\nWith an ' +
    '`input` it starts the version of the execution with that input, the same intent and the same pairs. The input is ' +
    'checked against the `input_schema` of that version, and the new execution has no `spec.origin`.',
  access: 'bearer',
  params: ExecutionId,
  body: {
    kind: 'json',
    required: false,
    schema: Type.Object({ name, input }, { additionalProperties: false }),
    example: { name: 'nightly-again' },
  },
  success: started,
  errors: [
    unknownExecution,
    privateWorkflow,
    taken,
    { status: 409, error: 'conflict', when: 'The execution has not begun.' },
    { ...unknownVersion, when: 'There is an `input`, and the version that the execution ran is no more.' },
    {
      status: 422,
      error: 'input validation failed',
      when: 'The `input` does not satisfy `input_schema`; nothing was created. `details` lists every failing path.',
    },
    quotaExceeded,
  ],
});

export const retryExecution = defineContract({
  operationId: 'retryExecution',
  method: 'post',
  path: '/v1/workflows/executions/{execution_id}/retry',
  tag: 'Executions',
  summary: 'Run an execution again from a state',
  description:
    'Starts a new execution in a state that the old one had entered, with its results from before its last visit ' +
    'there. These are the Blackboard entries of the earlier visits, and the keys that are no states. Its input is that of the old one, ' +
    'because those entries were made from it.',
  access: 'bearer',
  params: ExecutionId,
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        from: Type.String({ minLength: 1, maxLength: limits.nameLength, description: 'The state to begin in.' }),
        name,
      },
      { additionalProperties: false },
    ),
    example: { from: 'deploy' },
  },
  success: started,
  errors: [
    unknownExecution,
    privateWorkflow,
    taken,
    { status: 409, error: 'conflict', when: 'The execution has not begun, or has not ended.' },
    {
      status: 422,
      error: 'never_entered',
      when: 'The execution never entered that state; `states` are those that it did.',
      fields: Type.Object({ states: Type.Array(Type.String(), { description: 'The states that it entered.' }) }),
    },
    quotaExceeded,
  ],
});
