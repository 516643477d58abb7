import { Type } from 'typebox';
import type { ErrorContract, SuccessContract } from '../../../lib/http/contract.ts';

const id = (description: string) => Type.String({ format: 'uuid', description });

/** The answer to a stimulus that runs (spec 1 §4.6). */
export const accepted: SuccessContract = {
  kind: 'json',
  description: 'The stimulus was routed and its workflow started.',
  schema: Type.Object(
    {
      stimulus_id: id('Identifier of the stimulus.'),
      workflow_execution_id: id('Identifier of the execution that it started.'),
    },
    { additionalProperties: false },
  ),
  example: {
    stimulus_id: '5f1c3d1e-5c0f-4d3a-9a55-0c7f3a2f9d41',
    workflow_execution_id: 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22',
  },
};

/** The outcomes that both transports share, in the order in which they are looked for (spec 1 §7.2). */
export const refusals: readonly ErrorContract[] = [
  {
    status: 409,
    error: 'idempotent_duplicate',
    when: 'A stimulus with the same source and idempotency key was accepted within the last 24 hours.',
    fields: Type.Object({
      original_stimulus_id: Type.String({ format: 'uuid', description: 'The stimulus that runs, or ran.' }),
    }),
  },
  {
    status: 429,
    error: 'idempotency_share_used',
    when: 'The tenant has its share of the idempotency keys that are remembered; `Retry-After` says when the first ends.',
  },
  {
    status: 422,
    error: 'no_router_configured',
    when: 'No StimulusRouter routes the source, and the tenant has no router agent.',
  },
  {
    status: 422,
    error: 'classification_failed',
    when: 'The router agent was not sure enough, failed, or took too long.',
  },
  {
    status: 500,
    error: 'workflow_error',
    when: 'The workflow could not be started; `message` and `details` say why. The idempotency key is free again.',
  },
  {
    status: 413,
    error: 'payload_too_large',
    when: 'The body, or the content as JSON, is larger than an execution can hold (1 MiB).',
  },
];
