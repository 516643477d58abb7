import { Type } from 'typebox';
import { limits } from '../../../../crds/limits.ts';
import { edgeTag } from '../../../../crds/schema/edge-host.ts';
import { type Contract, defineContract, type ErrorContract } from '../../../../lib/http/contract.ts';
import { nextCursor, pageQuery, unknownCursor } from '../../../../lib/http/paging.ts';
import { withoutScope } from '../edge-caller.ts';
import { unknownHost } from '../errors.ts';
import { hostExample, hostSummaryExample } from '../examples.ts';
import { DisplayName, EdgeHostSummary, EdgeHostView, hostParams } from '../schema.ts';

const tag = 'Edge hosts';
const tagList = (description: string) => Type.Array(edgeTag, { maxItems: limits.edgeTags, description });
const hostAnswer = (description: string) =>
  ({ kind: 'json', description, schema: EdgeHostView, example: hostExample }) as const;
const busyHost: ErrorContract = {
  status: 409,
  error: 'conflict',
  when: 'Others change the host at the same time; try again.',
};

const longTexts: ErrorContract = {
  status: 400,
  error: 'invalid_request',
  when:
    `Its tags and labels would have more than ${limits.edgeTextsLength} characters, where each counts as ` +
    `${limits.edgeTextCharge} more.`,
};

/** spec 2 §4.3. */
export const listEdgeHosts = defineContract({
  operationId: 'listEdgeHosts',
  method: 'get',
  path: '/v1/edge/hosts',
  tag,
  summary: 'List hosts',
  description:
    'The hosts of the tenant, the newest first. Filters are joined by "and". A cursor stays valid while hosts come and ' +
    'go. Needs the scope `svc.edge.hosts.read`.',
  access: 'bearer',
  query: Type.Object(
    {
      tag: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: limits.edgeTagLength }), {
          maxItems: limits.edgeTags,
          description: 'Only hosts with this tag; may be repeated, the host then has all of them.',
        }),
      ),
      label: Type.Optional(
        Type.Array(Type.String({ pattern: '^[^=]+=', maxLength: 2 * limits.edgeLabelLength }), {
          maxItems: limits.edgeSelectorItems,
          description: 'Only hosts with this label, as `key=value`; may be repeated, the host then has all of them.',
        }),
      ),
      connected: Type.Optional(
        Type.Boolean({ description: '`true`: only connected hosts; `false` is the same as leaving it out.' }),
      ),
      ...pageQuery('Hosts'),
    },
    { additionalProperties: false },
  ),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      { items: Type.Array(EdgeHostSummary), next_cursor: nextCursor },
      { additionalProperties: false },
    ),
    example: { items: [hostSummaryExample], next_cursor: null },
  },
  errors: [withoutScope('svc.edge.hosts.read'), unknownCursor],
});

/** spec 2 §4.3. */
export const readEdgeHost = defineContract({
  operationId: 'readEdgeHost',
  method: 'get',
  path: '/v1/edge/hosts/{id}',
  tag,
  summary: 'Read a host',
  description: 'Needs the scope `svc.edge.hosts.read`.',
  access: 'bearer',
  params: hostParams,
  success: hostAnswer('The host.'),
  errors: [withoutScope('svc.edge.hosts.read'), unknownHost],
});

/** spec 2 §4.3. */
export const changeEdgeHost = defineContract({
  operationId: 'changeEdgeHost',
  method: 'patch',
  path: '/v1/edge/hosts/{id}',
  tag,
  summary: 'Rename a host, or replace its tags',
  description: 'Fields that are left out stay as they are. Needs the scope `svc.edge.hosts.write`.',
  access: 'bearer',
  params: hostParams,
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        name: Type.Optional(DisplayName),
        tags: Type.Optional(tagList('All tags of the host from now on; each once, in this order.')),
      },
      { additionalProperties: false },
    ),
    example: { name: 'build-7', tags: ['build', 'linux'] },
  },
  success: hostAnswer('The host as it is now.'),
  errors: [withoutScope('svc.edge.hosts.write'), longTexts, unknownHost, busyHost],
});

/** spec 2 §4.3, requirements AMB-099. */
export const tagEdgeHost = defineContract({
  operationId: 'tagEdgeHost',
  method: 'post',
  path: '/v1/edge/hosts/{id}/tags',
  tag,
  summary: 'Add and remove tags of a host',
  description:
    'At once: first `add`, then `remove`. Tags keep their order, and each stays once. Needs the scope ' +
    '`svc.edge.hosts.write`.',
  access: 'bearer',
  params: hostParams,
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        add: Type.Optional(tagList('Tags to add.')),
        remove: Type.Optional(tagList('Tags to remove; wins over `add`.')),
      },
      { additionalProperties: false },
    ),
    example: { add: ['build'], remove: ['spare'] },
  },
  success: hostAnswer('The host as it is now.'),
  errors: [
    withoutScope('svc.edge.hosts.write'),
    { ...longTexts, when: `The host would have more than ${limits.edgeTags} tags. ${longTexts.when}` },
    unknownHost,
    busyHost,
  ],
});

/** spec 2 §4.3, requirements AMB-098. */
export const revokeEdgeHost = defineContract({
  operationId: 'revokeEdgeHost',
  method: 'delete',
  path: '/v1/edge/hosts/{id}',
  tag,
  summary: 'Revoke a host',
  description:
    'For good: its token counts no more, its stream is dropped, and its commands end. Revoking again is answered in the ' +
    'same way. Needs the scope `svc.edge.hosts.write`.',
  access: 'bearer',
  params: hostParams,
  success: { kind: 'none', description: 'The host is revoked.' },
  errors: [withoutScope('svc.edge.hosts.write'), unknownHost, busyHost],
});

const offline: ErrorContract = {
  status: 503,
  error: 'unavailable',
  when: 'No relay holds a stream of the host, or it is not known whether the host has the order: it may be repeated.',
};

/** EDGE-FLOW-13, EDGE-FLOW-14. */
export const drainEdgeHost = defineContract({
  operationId: 'drainEdgeHost',
  method: 'post',
  path: '/v1/edge/hosts/{id}/drain',
  tag,
  summary: 'Drain a host',
  description:
    'No run targets the host any more. The host takes no new commands, and ends those that it has. A host that is away ' +
    'receives the order when it comes back. Needs the scope `svc.edge.hosts.write`.',
  access: 'bearer',
  params: hostParams,
  success: hostAnswer('The host as it is now.'),
  errors: [withoutScope('svc.edge.hosts.write'), unknownHost, busyHost],
});

export const resumeEdgeHost = defineContract({
  operationId: 'resumeEdgeHost',
  method: 'delete',
  path: '/v1/edge/hosts/{id}/drain',
  tag,
  summary: 'End the draining of a host',
  description:
    'Runs target the host again. A daemon that has drained takes commands once it is restarted. Needs the scope ' +
    '`svc.edge.hosts.write`.',
  access: 'bearer',
  params: hostParams,
  success: hostAnswer('The host as it is now.'),
  errors: [withoutScope('svc.edge.hosts.write'), unknownHost, busyHost],
});

const patchOf = (description: string) => Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }));

/** EDGE-FLOW-12; ADR 0068. */
export const pushEdgeConfig = defineContract({
  operationId: 'pushEdgeConfig',
  method: 'post',
  path: '/v1/edge/hosts/{id}/config',
  tag,
  summary: 'Push configuration to a host',
  description:
    "A JSON merge patch over the labels and security contexts of the host's configuration, which counts before the next " +
    'command. The host refuses what does not fit, and its log says why. Needs the scope `svc.edge.hosts.write`.',
  access: 'bearer',
  params: hostParams,
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        config: Type.Object(
          {
            labels: patchOf('Labels of the daemon; null takes one away.'),
            security_contexts: patchOf('Security contexts by name; null takes one away.'),
          },
          {
            additionalProperties: false,
            minProperties: 1,
            description: `The change, at most ${limits.edgeConfigBytes / 1024} KiB of JSON.`,
          },
        ),
        version: Type.Optional(
          Type.String({ minLength: 1, maxLength: limits.objectNameLength, description: 'Names the change.' }),
        ),
      },
      { additionalProperties: false },
    ),
    example: { config: { labels: { ring: 'canary' } }, version: '7' },
  },
  success: {
    kind: 'json',
    description: 'The stream of the host has the change.',
    schema: Type.Object(
      { version: Type.String({ description: 'Name of the change.' }) },
      { additionalProperties: false },
    ),
    example: { version: '7' },
  },
  errors: [
    withoutScope('svc.edge.hosts.write'),
    { status: 400, error: 'invalid_request', when: 'The change is too large.' },
    unknownHost,
    offline,
  ],
});

/** EDGE-FLOW-15. */
export const shutDownEdgeHost = defineContract({
  operationId: 'shutDownEdgeHost',
  method: 'post',
  path: '/v1/edge/hosts/{id}/shutdown',
  tag,
  summary: 'Stop the daemon of a host',
  description:
    'Commands under way get the grace, are then cancelled, and the daemon ends. It connects again when it is started. ' +
    'Needs the scope `svc.edge.hosts.write`.',
  access: 'bearer',
  params: hostParams,
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        grace_secs: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 3_600, default: 30, description: 'Seconds for commands under way.' }),
        ),
      },
      { additionalProperties: false },
    ),
    example: { grace_secs: 30 },
  },
  success: { kind: 'none', description: 'The stream of the host has the order.' },
  errors: [withoutScope('svc.edge.hosts.write'), unknownHost, offline],
});

export const contracts: readonly Contract[] = [
  listEdgeHosts,
  readEdgeHost,
  changeEdgeHost,
  tagEdgeHost,
  revokeEdgeHost,
  drainEdgeHost,
  resumeEdgeHost,
  pushEdgeConfig,
  shutDownEdgeHost,
];
