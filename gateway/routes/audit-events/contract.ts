import { Type } from 'typebox';
import { gatewayEventTypes } from '../../../lib/audit-chain/index.ts';
import { defineContract } from '../../../lib/http/contract.ts';
import { cursorQuery, nextCursor, pageQuery, unknownCursor } from '../../../lib/http/paging.ts';

const tag = 'Audit';
const text = (description: string) => Type.String({ description });
const tenant = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 253,
    description:
      'Slug of the tenant. Only an `svc:admin` whose token names no tenant may give it; absent: all tenants.',
  }),
);

const AuditEvent = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: text('Unique.'),
    source: text('`/windlass/gateway`.'),
    type: text('Name of the event (spec 3 §6).'),
    subject: text('Subject of the actor.'),
    time: text('RFC 3339.'),
    datacontenttype: Type.Literal('application/json'),
    tenant: Type.Optional(text('Absent for events of no tenant.')),
    invocationid: Type.Optional(text('The same in all events of a call.')),
    lane: text('Part of the record that one replica writes at a time.'),
    sequence: Type.Integer({ minimum: 1, description: 'Rises by one in a chain, which is a tenant and a lane.' }),
    previous: text('`hash` of the event before in the chain.'),
    hash: text('SHA-256 of the canonical JSON (RFC 8785) of the other members.'),
    data: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description: 'Content of the event.' }),
  },
  { additionalProperties: false },
);

const eventExample = {
  specversion: '1.0',
  id: '5a1f0c2d9b7e4f63',
  source: '/windlass/gateway',
  type: 'ToolInvocationStarted',
  subject: 'order-agent',
  time: '2026-11-23T10:00:00.000Z',
  datacontenttype: 'application/json',
  tenant: 'acme',
  invocationid: '0f9619ff-8b86-4d01-b42d-00c04fc964ff',
  lane: 'l0',
  sequence: 7,
  previous: 'a3f1'.repeat(16),
  hash: '9c0e'.repeat(16),
  data: { tool: 'orders.place' },
} as const;

export const listAuditEvents = defineContract({
  operationId: 'listAuditEvents',
  method: 'get',
  path: '/v1/audit-events',
  tag,
  summary: 'List audit events',
  description:
    'Events of the gateway as CloudEvents, the oldest first. A page may hold fewer events than `limit`, even none, where ' +
    'the filters leave few; `next_cursor` continues. `end_cursor` is where a later read finds what comes next.',
  access: 'bearer',
  query: Type.Object({
    ...pageQuery('Events', 100),
    tenant,
    type: Type.Optional(Type.Enum([...gatewayEventTypes], { description: 'Only events of this type.' })),
    from: Type.Optional(Type.String({ maxLength: 64, description: 'Only events of this time (RFC 3339) or later.' })),
    to: Type.Optional(Type.String({ maxLength: 64, description: 'Only events before this time (RFC 3339).' })),
  }),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      { items: Type.Array(AuditEvent), next_cursor: nextCursor, end_cursor: text('`cursor` of a later read.') },
      { additionalProperties: false },
    ),
    example: { items: [eventExample], next_cursor: null, end_cursor: 'MTIuMQ' },
  },
  errors: [unknownCursor, { status: 403, error: 'forbidden', when: 'The query names another tenant than the token.' }],
});

const AuditCheckpoint = Type.Object(
  {
    tenant: Type.Optional(text('Absent for the chain of events of no tenant.')),
    lane: text('Lane of the chain.'),
    sequence: Type.Integer({ minimum: 1, description: 'Where the chain ended.' }),
    hash: text('`hash` of the event there.'),
    time: text('Time of that event, RFC 3339.'),
    key_id: text('Which key signed it.'),
    signature: text('Ed25519, Base64 (docs/gateway.md).'),
  },
  { additionalProperties: false },
);

export const listAuditCheckpoints = defineContract({
  operationId: 'listAuditCheckpoints',
  method: 'get',
  path: '/v1/audit-checkpoints',
  tag,
  summary: 'List signed ends of audit chains',
  description:
    'The newest checkpoints of each chain, two thousand a page: more than one tenant has. Read all pages of them before the ' +
    'events that they are to vouch for.',
  access: 'bearer',
  query: Type.Object({ tenant, cursor: cursorQuery }),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      {
        items: Type.Array(AuditCheckpoint),
        next_cursor: nextCursor,
        public_key: text('Key that this installation signs with, PEM (SPKI).'),
        former_public_keys: Type.Array(Type.String(), { description: 'Keys that it signed with before, PEM (SPKI).' }),
        retained_from: Type.Union([Type.String(), Type.Null()], {
          description: 'When the oldest message of the store was stored, of whichever chain, RFC 3339.',
        }),
      },
      { additionalProperties: false },
    ),
    example: {
      items: [
        {
          tenant: 'acme',
          lane: 'l0',
          sequence: 7,
          hash: eventExample.hash,
          time: eventExample.time,
          key_id: '5f3c'.repeat(8),
          signature: `${'A'.repeat(86)}==`,
        },
      ],
      next_cursor: null,
      public_key: '-----BEGIN PUBLIC KEY-----\n…\n-----END PUBLIC KEY-----\n',
      former_public_keys: [],
      retained_from: eventExample.time,
    },
  },
  errors: [unknownCursor, { status: 403, error: 'forbidden', when: 'The query names another tenant than the token.' }],
});
