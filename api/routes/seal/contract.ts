import { Type } from 'typebox';
import { timestamp } from '../../../crds/schema/parts.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { envelopeBody, envelopeErrors, envelopeLimits } from '../../../lib/envelope/index.ts';
import { transportError } from '../../../lib/envelope/rpc-error.ts';
import { operatorRoles } from '../../../lib/identity/index.ts';
import { unknownTenant } from '../not-found.ts';

const result = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()]),
  result: Type.Object({
    content: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
    isError: Type.Boolean(),
  }),
});

const invoke = {
  method: 'post',
  tag: 'Tools',
  summary: 'Call a tool',
  description:
    'Takes a signed envelope (docs/tools.md), which proves by itself who calls: no bearer token is needed. Refusals of calls ' +
    'are JSON-RPC objects.',
  access: 'signature',
  security: [],
  body: envelopeBody,
  success: {
    kind: 'json',
    description: 'The answer of the tool; `isError` is true where the tool itself failed.',
    schema: result,
    example: { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'hello' }], isError: false } },
  },
  errors: envelopeErrors,
  errorBody: transportError,
} as const satisfies Omit<Contract, 'operationId' | 'path'>;

/** spec 1 §4.4, spec 3 §4.2: two paths of one operation. */
export const invokeTool = defineContract({ ...invoke, operationId: 'invokeTool', path: '/v1/seal/invoke' });
export const invokeToolAlias = defineContract({ ...invoke, operationId: 'invokeToolAlias', path: '/v1/invoke' });

const longestSeconds = envelopeLimits.longestSessionMs / 1_000;
const defaultSeconds = envelopeLimits.sessionMs / 1_000;

/** The token that an operator gives to the tool gateway with a new session (spec 3 §2.3, ADR 0083). */
export const issueSealToken = defineContract({
  operationId: 'issueSealToken',
  method: 'post',
  path: '/v1/seal/tokens',
  tag: 'Service',
  summary: 'Issue a token for a session of the tool gateway',
  description:
    'A token of the SEAL issuer for the tenant of the call. `POST /v1/seal/sessions` of the tool gateway takes it; alone it ' +
    'permits nothing. Needs the role `svc:operator` or `svc:admin`. The token is shown here and nowhere else.',
  access: 'bearer',
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        security_context: Type.String({
          minLength: 1,
          maxLength: 253,
          description:
            'Name of a security context that is there, of the tenant or a shared one, or `default`. It bounds the session.',
        }),
        ttl_seconds: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: longestSeconds,
            default: defaultSeconds,
            description: 'Seconds for which calls may be signed with it.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    example: { security_context: 'default', ttl_seconds: 3_600 },
  },
  success: {
    kind: 'json',
    description: 'The token.',
    schema: Type.Object(
      {
        security_token: Type.String({ description: 'A JWT.' }),
        expires_at: timestamp({ description: 'When it can be used no more.' }),
      },
      { additionalProperties: false },
    ),
    example: { security_token: 'eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIxIn0.c2ln', expires_at: '2026-11-02T10:25:00.000Z' },
  },
  errors: [
    { status: 403, error: 'forbidden', when: 'The caller is no operator.', needs: operatorRoles },
    unknownTenant,
  ],
});

export const contracts: readonly Contract[] = [issueSealToken, invokeTool, invokeToolAlias];
