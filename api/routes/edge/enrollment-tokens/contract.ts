import { Type } from 'typebox';
import { timestamp } from '../../../../crds/schema/parts.ts';
import { defineContract } from '../../../../lib/http/contract.ts';
import { edgeLimits } from '../../../../lib/edge/index.ts';
import { unknownTenant } from '../../not-found.ts';
import { withoutScope } from '../edge-caller.ts';
import { DisplayName } from '../schema.ts';

const token = 'eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIxIn0.c2ln';

/** spec 2 §4.2. */
export const issueEnrollmentToken = defineContract({
  operationId: 'issueEnrollmentToken',
  method: 'post',
  path: '/v1/edge/enrollment-tokens',
  tag: 'Edge hosts',
  summary: 'Issue an enrollment token',
  description:
    'A token with which one host enrolls, once, within its life. Needs the scope `svc.edge.enroll`, and for a team the ' +
    'rights of an administrator of that team. The token is shown here and nowhere else.',
  access: 'bearer',
  body: {
    kind: 'json',
    required: false,
    schema: Type.Object(
      {
        name: Type.Optional(DisplayName),
        ttl_seconds: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: edgeLimits.enrollmentSeconds,
            default: edgeLimits.enrollmentSeconds,
            description: 'Seconds for which the token can be used.',
          }),
        ),
        team_tenant_id: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 63,
            description: 'Tenant of a team; default: the tenant of the call.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    example: { name: 'build-7', ttl_seconds: 600 },
  },
  success: {
    kind: 'json',
    description: 'The token.',
    schema: Type.Object(
      {
        token: Type.String({ description: 'A JWT; give it to the daemon.' }),
        expires_at: timestamp({ description: 'When it can be used no more.' }),
        controller_endpoint: Type.String({ description: 'Where the daemon connects to: host and port.' }),
        qr_payload: Type.String({ description: 'The token as an address for a QR code.' }),
      },
      { additionalProperties: false },
    ),
    example: {
      token,
      expires_at: '2026-11-02T09:40:00.000Z',
      controller_endpoint: 'edge.example.com:443',
      qr_payload: `svc-edge-enroll://${token}`,
    },
  },
  errors: [
    { status: 400, error: 'invalid_request', when: '`ttl_seconds` is not 1 to 900, or `team_tenant_id` is unknown.' },
    {
      ...withoutScope('svc.edge.enroll'),
      when: 'The caller lacks the scope `svc.edge.enroll`, or is no administrator of the team.',
    },
    unknownTenant,
    { status: 503, error: 'unavailable', when: 'Edge mode is off in this installation, or starting; try again.' },
  ],
});
