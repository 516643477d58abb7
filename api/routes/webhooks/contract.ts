import { Type } from 'typebox';
import { limits } from '../../../crds/limits.ts';
import { defineContract, type ErrorContract } from '../../../lib/http/contract.ts';
import { accepted, refusals } from '../stimuli/outcomes.ts';

/** In the order in which they are looked for (requirements AMB-045). */
const signatureErrors: readonly ErrorContract[] = [
  { status: 401, error: 'missing_signature', when: '`X-Svc-Signature` is absent or empty.' },
  {
    status: 400,
    error: 'malformed_signature',
    when: '`X-Svc-Signature` is not `sha256=<hex>`, `X-Svc-Bound-Signature` not `sha512=<hex>`, or one was sent twice.',
  },
  { status: 400, error: 'invalid_hex', when: 'The text behind `sha256=` or `sha512=` is not hexadecimal.' },
  { status: 401, error: 'secret_not_found', when: 'No secret is configured for the source.' },
  { status: 401, error: 'invalid_signature', when: 'A signature is not that of the body under the secret.' },
];

const signatureReused: ErrorContract = {
  status: 409,
  error: 'signature_reused',
  when: 'A delivery with this signature was accepted under another source or idempotency key within the last 24 hours.',
};

/** spec 1 §4.6, §5.3. */
export const receiveWebhook = defineContract({
  operationId: 'receiveWebhook',
  method: 'post',
  path: '/v1/webhooks/{source}',
  tag: 'Stimuli',
  summary: 'Receive a webhook',
  description:
    'Takes a body of any content type. The signature is HMAC-SHA256 over the bytes as they were sent. A body that is ' +
    'JSON becomes that value, other UTF-8 text a string, anything else `{"base64": …, "content_type": …}`. It is ' +
    'decoded first where `Content-Encoding` is gzip, deflate or br, up to 10 MiB; under another coding it stays bytes.',
  access: 'signature',
  senderParam: 'source',
  params: Type.Object({
    source: Type.String({ description: 'Lower-case letters, digits, `.` and `-`; at most 63.' }),
  }),
  headers: Type.Object({
    'x-svc-signature': Type.Optional(Type.String({ description: '`sha256=` and the digest in hexadecimal.' })),
    'x-svc-bound-signature': Type.Optional(
      Type.String({
        description:
          '`sha512=` and the HMAC-SHA512 over source, line feed, idempotency key, line feed and body, in hexadecimal. ' +
          'Its sender may use one body under several keys.',
      }),
    ),
    'x-idempotency-key': Type.Optional(
      Type.String({ description: "The sender's id of this delivery; a second one is refused for 24 hours." }),
    ),
  }),
  body: { kind: 'bytes', maxBytes: limits.webhookBodyBytes },
  success: accepted,
  errors: [...signatureErrors, signatureReused, ...refusals],
});
