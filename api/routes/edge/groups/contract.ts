import { Type } from 'typebox';
import { limits } from '../../../../crds/limits.ts';
import { EdgeSelector } from '../../../../crds/schema/edge-group.ts';
import { type Contract, defineContract, type ErrorContract } from '../../../../lib/http/contract.ts';
import { nextCursor, unknownCursor } from '../../../../lib/http/paging.ts';
import { unknownTenant } from '../../not-found.ts';
import { quotaExceeded } from '../../workflows/errors.ts';
import { withoutScope } from '../edge-caller.ts';
import { unknownGroup } from '../errors.ts';
import { groupExample, groupSummaryExample } from '../examples.ts';
import { DisplayName, EdgeGroupSummary, EdgeGroupView, groupParams } from '../schema.ts';

const tag = 'Edge groups';
const groupAnswer = (description: string) =>
  ({ kind: 'json', description, schema: EdgeGroupView, example: groupExample }) as const;
const foreignMember: ErrorContract = {
  status: 400,
  error: 'invalid_request',
  when: 'The tenant has no host of an id in `pinned_members`, or nothing says which hosts belong to the group.',
};
const busyGroup: ErrorContract = {
  status: 409,
  error: 'conflict',
  when: 'Others change the group at the same time; try again.',
};
const selector = Type.Union([EdgeSelector, Type.Null()], {
  description: 'Hosts that fit belong to the group; `{}` is every host, null or absent none.',
});
const pinnedMembers = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: limits.edgePinnedMembers,
  description: 'Ids of hosts that belong to the group whatever the selector says.',
});

/** spec 2 §4.4; scopes as ADR 0072 says. The specification gives the list no parameters, so that it is whole without any. */
export const listEdgeGroups = defineContract({
  operationId: 'listEdgeGroups',
  method: 'get',
  path: '/v1/edge/groups',
  tag,
  summary: 'List groups of hosts',
  description:
    'The groups of the tenant, by name. Without `limit` the answer has all of them, unless they take more than 8 MiB. Needs ' +
    'the scope `svc.edge.hosts.read` or `svc.edge.groups.write`.',
  access: 'bearer',
  query: Type.Object(
    {
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: `Groups a page; more than ${limits.pageSizeMax} counts as ${limits.pageSizeMax}. Default: all.`,
        }),
      ),
      // The last name of a page is part of it, which may have four bytes a character.
      cursor: Type.Optional(
        Type.String({ minLength: 1, maxLength: 2_048, description: '`next_cursor` of the page before.' }),
      ),
    },
    { additionalProperties: false },
  ),
  success: {
    kind: 'json',
    description: 'The groups, or one page of them.',
    schema: Type.Object(
      { items: Type.Array(EdgeGroupSummary), next_cursor: nextCursor },
      { additionalProperties: false },
    ),
    example: { items: [groupSummaryExample], next_cursor: null },
  },
  errors: [withoutScope('svc.edge.hosts.read', 'svc.edge.groups.write'), unknownCursor],
});

export const createEdgeGroup = defineContract({
  operationId: 'createEdgeGroup',
  method: 'post',
  path: '/v1/edge/groups',
  tag,
  summary: 'Make a group of hosts',
  description: 'Needs the scope `svc.edge.groups.write`.',
  access: 'bearer',
  body: {
    kind: 'json',
    schema: Type.Object(
      { name: DisplayName, selector: Type.Optional(selector), pinned_members: Type.Optional(pinnedMembers) },
      { additionalProperties: false },
    ),
    example: { name: 'builders', selector: { os: 'linux', tags: [{ Has: 'build' }] } },
  },
  success: groupAnswer('The group.'),
  errors: [withoutScope('svc.edge.groups.write'), foreignMember, unknownTenant, quotaExceeded],
});

export const readEdgeGroup = defineContract({
  operationId: 'readEdgeGroup',
  method: 'get',
  path: '/v1/edge/groups/{id}',
  tag,
  summary: 'Read a group of hosts',
  description: 'Its hosts are those of now. Needs the scope `svc.edge.hosts.read` or `svc.edge.groups.write`.',
  access: 'bearer',
  params: groupParams,
  success: groupAnswer('The group.'),
  errors: [withoutScope('svc.edge.hosts.read', 'svc.edge.groups.write'), unknownGroup],
});

export const changeEdgeGroup = defineContract({
  operationId: 'changeEdgeGroup',
  method: 'patch',
  path: '/v1/edge/groups/{id}',
  tag,
  summary: 'Change a group of hosts',
  description: 'Fields that are left out stay as they are. Needs the scope `svc.edge.groups.write`.',
  access: 'bearer',
  params: groupParams,
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        name: Type.Optional(DisplayName),
        selector: Type.Optional(selector),
        pinned_members: Type.Optional(pinnedMembers),
      },
      { additionalProperties: false },
    ),
    example: { pinned_members: ['6c0a3c52-8a52-8a8e-9c0e-6d7d6a0c9f11'] },
  },
  success: groupAnswer('The group as it is now.'),
  errors: [withoutScope('svc.edge.groups.write'), foreignMember, unknownGroup, busyGroup],
});

export const deleteEdgeGroup = defineContract({
  operationId: 'deleteEdgeGroup',
  method: 'delete',
  path: '/v1/edge/groups/{id}',
  tag,
  summary: 'Delete a group of hosts',
  description: 'Its hosts stay, and runs that began keep their hosts. Needs the scope `svc.edge.groups.write`.',
  access: 'bearer',
  params: groupParams,
  success: { kind: 'none', description: 'The group is deleted.' },
  errors: [withoutScope('svc.edge.groups.write'), unknownGroup],
});

export const contracts: readonly Contract[] = [
  listEdgeGroups,
  createEdgeGroup,
  readEdgeGroup,
  changeEdgeGroup,
  deleteEdgeGroup,
];
