import { Type } from 'typebox';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';

const tag = 'Agent pods';
const id = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });

const foreign = { status: 403, error: 'forbidden', when: 'The request does not come from the pod of the execution.' };
const unknown = { status: 404, error: 'not_found', when: 'There is no such execution.' };
const over = { status: 410, error: 'gone', when: 'The execution was cancelled or has ended without an outcome.' };

/** spec 1 §4.4; of the internal listener. */
export const attestPod = defineContract({
  operationId: 'attestPod',
  method: 'post',
  path: '/v1/seal/attest',
  tag,
  summary: 'Bind the key of a pod to a session of its execution',
  access: 'pod',
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        agent_id: id('Uid of the Agent.'),
        execution_id: id('Uid of the AgentExecution.'),
        container_id: Type.String({
          minLength: 1,
          maxLength: 512,
          description: 'Uid or name of the pod, or the id of its container.',
        }),
        agent_public_key: Type.String({
          minLength: 1,
          maxLength: 128,
          description: 'Base64 of an Ed25519 public key.',
        }),
      },
      { additionalProperties: false },
    ),
    maxBytes: 8 * 1024,
    example: {
      agent_id: '0b0f5e4e-7a6c-4a5e-9a44-0a8f6f2f7f10',
      execution_id: '4f7a9a44-1f8c-4d0b-8f57-9f2c0c8f3a11',
      container_id: '7d9b8c1e-2f3a-4b5c-8d6e-9f0a1b2c3d4e',
      agent_public_key: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
    },
  },
  success: {
    kind: 'json',
    description: 'The session.',
    schema: Type.Object(
      { security_token: Type.String(), session_id: Type.String(), expires_at: Type.String() },
      { additionalProperties: false },
    ),
    example: { security_token: 'eyJ…', session_id: '5c1f…', expires_at: '2026-01-31T12:15:00.000Z' },
  },
  errors: [foreign, unknown, over, { status: 409, error: 'conflict', when: 'This pod has attested with another key.' }],
});

/** spec 1 §4.5; of the internal listener. The type selects the shape, which the handler checks. */
export const dispatchGateway = defineContract({
  operationId: 'dispatchGateway',
  method: 'post',
  path: '/v1/dispatch-gateway',
  tag,
  summary: 'Ask for the next command, or report the result of one',
  description:
    'The answer is a command to run (`dispatch`) or the end (`final`). 204 says that there is nothing yet: ask again. `messages` and ' +
    '`prompt` of `generate` are put to the model with its next question, once.',
  access: 'pod',
  body: {
    kind: 'json',
    schema: Type.Object({ type: Type.String({ maxLength: 64 }) }, { additionalProperties: true }),
    maxBytes: 8 * 1024 * 1024,
    example: {
      type: 'generate',
      agent_id: '…',
      execution_id: '…',
      iteration_number: 1,
      model_alias: 'default',
      prompt: 'Answer in one sentence.',
      messages: [{ role: 'user', content: 'The files are in /data.' }],
    },
  },
  success: {
    kind: 'json',
    description: 'A command, or the end.',
    schema: Type.Object({ type: Type.String() }, { additionalProperties: true }),
    example: { type: 'final', content: 'done', tool_calls_executed: 0, conversation: [] },
    bodiless: { 204: 'The request ended before there was a command.' },
  },
  errors: [
    foreign,
    unknown,
    over,
    { status: 409, error: 'conflict', when: 'Another result of this dispatch was taken before.' },
    { status: 422, error: 'limit_exceeded', when: 'The pod has said more than an execution takes.' },
    { status: 429, error: 'rate_limited', when: 'Four requests of the execution wait already.' },
    {
      status: 503,
      error: 'unavailable',
      when: 'Final answers that are being read have the share of memory of the tenant, or the event bus is away; ask again.',
    },
  ],
});

/** Every operation for the pods of agents. */
export const contracts: readonly Contract[] = [attestPod, dispatchGateway];
