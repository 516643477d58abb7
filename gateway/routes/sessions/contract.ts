import { Type } from 'typebox';
import { limits } from '../../../crds/limits.ts';
import { shortToolGlobPattern } from '../../../crds/tool-name.ts';
import { envelopeLimits } from '../../../lib/envelope/index.ts';
import { defineContract } from '../../../lib/http/contract.ts';
import { nextCursor, pageQuery, unknownCursor } from '../../../lib/http/paging.ts';

const tag = 'Sessions';
const id = Type.String({ minLength: 1, maxLength: envelopeLimits.executionIdLength });
const name = Type.String({ minLength: 1, maxLength: 253 });
const pattern = Type.String({ minLength: 1, maxLength: limits.toolNameLength, pattern: shortToolGlobPattern });

/** Globs of one session. */
const patternsMax = 200;

/** The body of spec 3 §2.3. */
const sessionBody = Type.Object(
  {
    execution_id: Type.String({
      minLength: 1,
      maxLength: envelopeLimits.executionIdLength,
      description: 'Calls name their session by it, and by the tenant of their token.',
    }),
    agent_id: Type.String({ minLength: 1, maxLength: 253, description: 'Names the caller in audit events.' }),
    security_context: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Name of a security context that is there, of the tenant or a shared one, or `default`.',
    }),
    public_key_b64: Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: 'Base64 of the raw Ed25519 public key of 32 bytes, not PEM.',
    }),
    security_token: Type.String({
      minLength: 1,
      maxLength: envelopeLimits.tokenLength,
      description: 'A JWT of the SEAL issuer for the tenant and the security context. No route gives it back.',
    }),
    expires_at: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'ISO 8601 with its zone. Default: in an hour; in seven days at most. A token may end before: later calls send another one ' +
          'of the same tenant and security context.',
      }),
    ),
    allowed_tool_patterns: Type.Optional(
      Type.Array(pattern, {
        maxItems: patternsMax,
        description:
          'Names of the tools that may be called, in which * is any text, 8 times at most. Default: every tool. An empty list permits none.',
      }),
    ),
    tenant_id: Type.Optional(name),
  },
  { additionalProperties: false },
);

const session = Type.Object(
  {
    execution_id: id,
    agent_id: Type.String(),
    security_context: name,
    public_key_b64: Type.String(),
    expires_at: Type.String(),
    allowed_tool_patterns: Type.Array(Type.String()),
    tenant_id: Type.Union([Type.String(), Type.Null()]),
    state: Type.Union([Type.Literal('active'), Type.Literal('revoked'), Type.Literal('expired')]),
  },
  { additionalProperties: false },
);

const example = {
  execution_id: 'run-7',
  agent_id: 'desk',
  security_context: 'default',
  public_key_b64: 'O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik=',
  expires_at: '2026-12-01T13:00:00.000Z',
  allowed_tool_patterns: ['orders.*'],
  tenant_id: 'acme',
  state: 'active',
};

export const createSession = defineContract({
  operationId: 'createSession',
  method: 'post',
  path: '/v1/seal/sessions',
  tag,
  summary: 'Create a session',
  description: 'The same body again gives the same session.',
  access: 'bearer',
  body: {
    kind: 'json',
    schema: sessionBody,
    maxBytes: 131_072,
    example: {
      execution_id: example.execution_id,
      agent_id: example.agent_id,
      security_context: 'default',
      public_key_b64: example.public_key_b64,
      security_token: '<SECURITY_TOKEN>',
    },
  },
  success: {
    kind: 'json',
    description: 'The session, without its token.',
    schema: Type.Object({ id, name: Type.String(), ...session.properties }, { additionalProperties: false }),
    example: { id: example.execution_id, name: example.agent_id, ...example },
  },
  errors: [
    { status: 409, error: 'conflict', when: 'The tenant has another session of this execution, or a revoked one.' },
    {
      status: 429,
      error: 'session_share_used',
      when: 'The tenant has its share of active sessions, or of all sessions of seven days. The message names the limit.',
    },
  ],
});

export const listSessions = defineContract({
  operationId: 'listSessions',
  method: 'get',
  path: '/v1/seal/sessions',
  tag,
  summary: 'List the active sessions of the tenant',
  access: 'bearer',
  query: Type.Object(pageQuery('Sessions')),
  success: {
    kind: 'json',
    description: 'By execution id.',
    schema: Type.Object({ items: Type.Array(session), next_cursor: nextCursor }, { additionalProperties: false }),
    example: { items: [example], next_cursor: null },
  },
  errors: [unknownCursor],
});

const params = Type.Object({ execution_id: id });
const unknown = { status: 404, error: 'not_found', when: 'The tenant has no session of this execution.' } as const;

export const readSession = defineContract({
  operationId: 'readSession',
  method: 'get',
  path: '/v1/seal/sessions/{execution_id}',
  tag,
  summary: 'Read a session',
  access: 'bearer',
  params,
  success: { kind: 'json', description: 'Without its token.', schema: session, example },
  errors: [unknown],
});

export const revokeSession = defineContract({
  operationId: 'revokeSession',
  method: 'delete',
  path: '/v1/seal/sessions/{execution_id}',
  tag,
  summary: 'Revoke a session',
  description:
    'Answers when calls that were admitted before have ended, on every replica of the gateway and of the API; no call begins ' +
    'after that.',
  access: 'bearer',
  params,
  success: {
    kind: 'json',
    description: 'It is revoked.',
    schema: Type.Object({ execution_id: id, state: Type.Literal('revoked') }, { additionalProperties: false }),
    example: { execution_id: 'run-7', state: 'revoked' },
  },
  errors: [unknown],
});
