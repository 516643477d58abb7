import { Type } from 'typebox';
import { limits } from '../../../crds/limits.ts';
import { sourcePattern } from '../../../crds/stimulus-source.ts';
import { defineContract } from '../../../lib/http/contract.ts';
import { accepted, refusals } from './outcomes.ts';

const idempotencyKey = (description: string) =>
  Type.String({ minLength: 1, maxLength: limits.idempotencyKeyLength, description });

/** spec 1 §4.6. */
export const submitStimulus = defineContract({
  operationId: 'submitStimulus',
  method: 'post',
  path: '/v1/stimuli',
  tag: 'Stimuli',
  summary: 'Submit a stimulus',
  description:
    'Hands an event to the workflow that a StimulusRouter of the tenant names for its source. Content that is a JSON ' +
    'object becomes the input of the execution; any other content becomes `{"content": …}`, and text is its intent too.',
  access: 'bearer',
  headers: Type.Object({
    'idempotency-key': Type.Optional(
      idempotencyKey('The same as `idempotency_key` of the body; one of the two is enough.'),
    ),
  }),
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        source: Type.String({
          pattern: sourcePattern,
          maxLength: 63,
          description: '`http_api` or a name of your own; it selects the route.',
        }),
        content: Type.String({ description: 'Natural language, or JSON as text; it may be empty.' }),
        idempotency_key: Type.Optional(
          idempotencyKey('A second stimulus with the same source and key is refused for 24 hours.'),
        ),
      },
      { additionalProperties: false },
    ),
    example: { source: 'http_api', content: 'The login page answers 500 since noon.', idempotency_key: 'ticket-4711' },
  },
  success: accepted,
  errors: refusals,
});
