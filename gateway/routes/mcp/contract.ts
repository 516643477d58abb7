import { Type } from 'typebox';
import { envelopeErrors, envelopeLimits } from '../../../lib/envelope/index.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';

const header = (maxLength: number, description: string) => Type.String({ maxLength, description });

const message = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
    method: Type.String({ minLength: 1, description: '`tools/list`, `tools/call`, or another one of the protocol.' }),
    params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { description: 'One message of the protocol.' },
);

/** Issue 13, part 7; ADR 0081. */
export const callMcp = defineContract({
  operationId: 'callMcp',
  method: 'post',
  path: '/v1/mcp',
  tag: 'Tools',
  summary: 'Speak the Model Context Protocol',
  description:
    'Streamable HTTP without sessions of the protocol. `Authorization` holds the SEAL token as a bearer token. The signature is ' +
    'that of the canonical JSON of `{payload, security_token, timestamp}`, where `payload` is the body, and `timestamp` a number ' +
    '(docs/gateway.md).',
  access: 'signature',
  security: ['sealToken', 'sealSignature'],
  headers: Type.Object({
    'seal-execution-id': header(envelopeLimits.executionIdLength, 'Names the session.'),
    'seal-timestamp': header(envelopeLimits.timestampLength, 'Whole Unix seconds, or an RFC 3339 time with its zone.'),
    'seal-signature': header(envelopeLimits.signatureLength, 'Base64 of the Ed25519 signature.'),
  }),
  body: {
    kind: 'bytes',
    maxBytes: envelopeLimits.envelopeBytes,
    document: { schema: message, example: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
  },
  success: {
    kind: 'text',
    description: 'One JSON-RPC answer, as JSON or as one event.',
    mediaType: 'application/json',
    example: '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}',
    bodiless: { 202: 'The message was a notification, which has no answer.' },
  },
  // Arguments are refused by an error of the protocol, under 200.
  errors: envelopeErrors.filter(({ status }) => status !== 422),
});

export const contracts: readonly Contract[] = [callMcp];
