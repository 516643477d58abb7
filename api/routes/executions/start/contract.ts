import { Type } from 'typebox';
import { labelNamePattern } from '../../../../crds/label-name.ts';
import { limits } from '../../../../crds/limits.ts';
import { anyJson, mapOf } from '../../../../crds/schema/parts.ts';
import { defineContract } from '../../../../lib/http/contract.ts';
import { unknownTenant, unknownVersion, unknownWorkflow } from '../../not-found.ts';
import { beingDeleted } from '../../being-deleted.ts';
import { quotaExceeded } from '../../workflows/errors.ts';

/** requirements AMB-015, AMB-056. */
export const startExecution = defineContract({
  operationId: 'startExecution',
  method: 'post',
  path: '/v1/workflows/executions',
  tag: 'Executions',
  summary: 'Start a workflow',
  description:
    'Starts a workflow of the tenant or, failing that, a global one, in the version that is newest now or the one ' +
    'named. The input is checked against its `input_schema` before anything is created.\n\nWith an `Idempotency-Key` ' +
    'a request can be sent again without starting a second execution, for as long as the first one exists. The same ' +
    'caller, key and body are answered with the same id.',
  access: 'bearer',
  headers: Type.Object({
    'idempotency-key': Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.idempotencyKeyLength,
        description: 'Any text that this caller uses for this one start.',
      }),
    ),
  }),
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        workflow: Type.String({ minLength: 1, maxLength: 253, description: 'Name or id of the workflow.' }),
        name: Type.Optional(
          Type.String({
            pattern: labelNamePattern,
            maxLength: 63,
            description:
              'Name of the execution in Kubernetes; absent: a name is made up. The same caller, name, body and ' +
              '`Idempotency-Key`, if any, start one execution, however often they are sent.',
          }),
        ),
        version: Type.Optional(
          Type.String({ minLength: 1, maxLength: 128, description: 'A registered version; absent: the newest.' }),
        ),
        input: Type.Optional(
          anyJson({
            description:
              'Start input; templates read it as {{input.KEY}}. Any other value becomes `{"input": …}`, unless the ' +
              '`input_schema` of the workflow takes no such field.',
          }),
        ),
        intent: Type.Optional(
          Type.String({ maxLength: limits.templateLength, description: 'Natural-language purpose, {{intent}}.' }),
        ),
        blackboard: Type.Optional(
          mapOf(anyJson(), { maxProperties: limits.mapEntries, description: 'Pairs that seed the Blackboard.' }),
        ),
        ttl_seconds_after_finished: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 31_536_000,
            description: 'How long the execution is kept after its end; absent: as the installation is set, one day.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    example: { workflow: 'hello', input: { name: 'Ada' } },
  },
  success: {
    kind: 'json',
    description: 'The execution exists and will run.',
    schema: Type.Object(
      { execution_id: Type.String({ format: 'uuid', description: 'Id of the execution.' }) },
      { additionalProperties: false },
    ),
    example: { execution_id: 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22' },
  },
  errors: [
    unknownWorkflow,
    unknownVersion,
    unknownTenant,
    {
      status: 422,
      error: 'input validation failed',
      when:
        'The input does not satisfy `input_schema`; nothing was created. `details` lists every failing path, of more ' +
        'than a hundred the first and how many others there are.',
    },
    {
      status: 422,
      error: 'workflow_not_ready',
      when: 'The definition of the workflow is not valid; `message` says why.',
    },
    {
      status: 422,
      error: 'idempotency_key_reused',
      when: 'The same key was used for another body, and that execution still exists.',
    },
    beingDeleted,
    { status: 409, error: 'already_exists', when: 'The tenant has another execution of that `name`.' },
    quotaExceeded,
  ],
});
