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
  errors: [withoutScope('svc.edge.hosts.write'), unknownHost, busyHost],
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
    { status: 400, error: 'invalid_request', when: `The host would have more than ${limits.edgeTags} tags.` },
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

export const contracts: readonly Contract[] = [
  listEdgeHosts,
  readEdgeHost,
  changeEdgeHost,
  tagEdgeHost,
  revokeEdgeHost,
];
