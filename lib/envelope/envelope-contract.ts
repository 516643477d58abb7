import { Type } from 'typebox';
import type { BodyContract, ErrorContract } from '../http/contract.ts';
import { envelopeLimits } from './limits.ts';

const { envelopeBytes, executionIdLength, signatureLength, timestampLength, tokenLength } = envelopeLimits;
const base64 = '^[A-Za-z0-9+/]{86}==$';
const text = (description: string, maxLength: number) => Type.String({ minLength: 1, maxLength, description });

/** A signed call as it is sent (spec 3 §4.2). Other fields are not looked at, but for a `tenant_id` (spec 3 §5.4). */
const Envelope = Type.Object(
  {
    protocol: Type.Literal('seal/v1', { description: 'Always seal/v1.' }),
    security_token: text('The token of the session, a JWT.', tokenLength),
    signature: Type.String({
      pattern: base64,
      maxLength: signatureLength,
      description: 'Base64 of the Ed25519 signature over the canonical JSON of payload, security_token and timestamp.',
    }),
    timestamp: Type.Union([Type.Integer(), Type.String({ format: 'date-time', maxLength: timestampLength })], {
      description: 'Now: whole Unix seconds, or an RFC 3339 time with its zone.',
    }),
    payload: Type.Object(
      {
        jsonrpc: Type.Literal('2.0'),
        id: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
        method: Type.Literal('tools/call'),
        params: Type.Object({
          name: Type.String({ minLength: 1, description: 'Name of the tool.' }),
          arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Its arguments.' })),
        }),
      },
      { description: 'The JSON-RPC request.' },
    ),
    metadata: Type.Object(
      { execution_id: text('The execution of the session.', executionIdLength) },
      { description: 'Whose call it is.' },
    ),
  },
  { description: 'A signed tool call.' },
);

/** The body of an operation that takes signed calls. */
export const envelopeBody = {
  kind: 'bytes',
  maxBytes: envelopeBytes,
  document: {
    schema: Envelope,
    example: {
      protocol: 'seal/v1',
      security_token: 'eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIxIn0.c2ln',
      signature: `${'A'.repeat(86)}==`,
      timestamp: 1_767_225_600,
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'fs.read', arguments: { path: '/workspace/a.txt' } },
      },
      metadata: { execution_id: '4f7a9a44-1f8c-4d0b-8f57-9f2c0c8f3a11' },
    },
  },
} as const satisfies BodyContract;

const rpc = (status: number, code: number, when: string): ErrorContract => ({
  status,
  error: String(code),
  rpc: code,
  when,
});

/** How a signed call is refused (spec 3 §7.2); the API and the tool gateway have these in common. */
export const envelopeErrors: readonly ErrorContract[] = [
  rpc(400, -32_600, 'The envelope is malformed, or names no tool.'),
  rpc(
    401,
    -32_000,
    'The session has expired, or the token, the signature (`data.code` 1004) or the timestamp (1003) is not good, or the call was made before.',
  ),
  rpc(
    403,
    -32_000,
    'The session is not active, the session or a policy does not permit the call, or the call names another tenant. With `data.error` `OutcomeUnknown`: the session was revoked while the call ran.',
  ),
  rpc(413, -32_600, `The envelope has more than ${envelopeBytes} bytes.`),
  rpc(422, -32_602, 'A required argument is missing or null, or an argument is of the wrong type.'),
  rpc(429, -32_000, 'The tenant has made too many calls, or its bodies and answers have its share of bytes.'),
  rpc(
    500,
    -32_603,
    'Something is wrong with the service. With `data.error` `OutcomeUnknown`: the call took too long, and may have run.',
  ),
  rpc(503, -32_603, 'Something that the call needs cannot be reached; try again.'),
];
