import { Type } from 'typebox';
import { SecurityContextSpec } from '../../../crds/schema/security-context.ts';
import { scope } from '../../registry/present.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { nextCursor, pageQuery, unknownCursor } from '../../../lib/http/paging.ts';

const tag = 'Security contexts';
const namePattern = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$';
const name = Type.String({ pattern: namePattern, maxLength: 63, description: 'A name of Kubernetes, such as `desk`.' });

const context = Type.Object(
  { id: Type.String(), name: Type.String(), scope, ...SecurityContextSpec.properties },
  { additionalProperties: false },
);
const example = { id: '5f3c0e0a-9f0b-4a55-8a3e-2d1f9d1f7a11', name: 'desk', scope: 'tenant', tools: ['orders.*'] };

export const createSecurityContext = defineContract({
  operationId: 'createSecurityContext',
  method: 'post',
  path: '/v1/security-contexts',
  tag,
  summary: 'Create or change a security context',
  description:
    'Replaces the one of the same name. Needs the role svc:admin without a tenant for a shared one, and the scope ' +
    'svc.edge.fleet.manage for a tier other than user. The answer comes once every replica of the gateway follows it; 503 ' +
    'says that one may not yet, and the same request waits again.',
  access: 'bearer',
  body: {
    kind: 'json',
    schema: Type.Object(
      { name, tenant_id: Type.Optional(Type.String({ maxLength: 253 })), ...SecurityContextSpec.properties },
      { additionalProperties: false },
    ),
    example: { name: 'desk', tools: ['orders.*'] },
  },
  success: {
    kind: 'json',
    description: 'It is there.',
    schema: Type.Object(
      {
        id: Type.String(),
        name: Type.String(),
        warnings: Type.Optional(
          Type.Array(Type.String(), { description: 'Patterns of tools that fit none, and names that are near.' }),
        ),
      },
      { additionalProperties: false },
    ),
    example: { id: example.id, name: 'desk' },
  },
  errors: [
    {
      status: 403,
      error: 'forbidden',
      when: 'The tier opens tools of hosts, and the caller lacks the scope of fleets. Or the body has the network `listed` or `git_secrets`, which are written with kubectl.',
    },
  ],
});

export const listSecurityContexts = defineContract({
  operationId: 'listSecurityContexts',
  method: 'get',
  path: '/v1/security-contexts',
  tag,
  summary: 'List security contexts',
  description: 'Those of the tenant, and shared ones of a name that the tenant has not.',
  access: 'bearer',
  query: Type.Object(pageQuery('Security contexts')),
  success: {
    kind: 'json',
    description: 'By name.',
    schema: Type.Object({ items: Type.Array(context), next_cursor: nextCursor }, { additionalProperties: false }),
    example: { items: [example], next_cursor: null },
  },
  errors: [unknownCursor],
});

const params = Type.Object({ name: Type.String({ minLength: 1, maxLength: 253 }) });
const unknown = { status: 404, error: 'not_found', when: 'The tenant sees no such security context.' } as const;

export const readSecurityContext = defineContract({
  operationId: 'readSecurityContext',
  method: 'get',
  path: '/v1/security-contexts/{name}',
  tag,
  summary: 'Read a security context',
  access: 'bearer',
  params,
  success: { kind: 'json', description: 'The security context.', schema: context, example },
  errors: [unknown],
});

export const deleteSecurityContext = defineContract({
  operationId: 'deleteSecurityContext',
  method: 'delete',
  path: '/v1/security-contexts/{name}',
  tag,
  summary: 'Delete a security context',
  description: 'Sessions that name it can call nothing any more, except where a shared one has the name.',
  access: 'bearer',
  params,
  success: {
    kind: 'json',
    description: 'It is gone.',
    schema: Type.Object({ name: Type.String() }, { additionalProperties: false }),
    example: { name: 'desk' },
  },
  errors: [unknown],
});

export const contracts: readonly Contract[] = [
  createSecurityContext,
  listSecurityContexts,
  readSecurityContext,
  deleteSecurityContext,
];
