import { Type } from 'typebox';
import { AgentManifest } from '../../../crds/schema/agent-manifest.ts';
import { oneOf, timestamp } from '../../../crds/schema/parts.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { deletingField } from '../being-deleted.ts';
import { unknownAgent, unknownTenant, unknownVersion } from '../not-found.ts';
import { nextCursor, pageQuery, unknownCursor, wordsQuery } from '../../../lib/http/paging.ts';
import { notAnOperator, operatorsForGlobal, quotaExceeded } from '../workflows/errors.ts';
import { definitionExample, identityExample, manifestExample } from './examples.ts';
import { AgentDefinition, AgentIdentity, AgentRegistration, AgentVersion, agentParams, agentScopes } from './schema.ts';

const tag = 'Agents';

/** spec 1 §4.1. */
export const lookupAgent = defineContract({
  operationId: 'lookupAgent',
  method: 'get',
  path: '/v1/agents/lookup/{name}',
  tag,
  summary: 'Find an agent by its name',
  description: 'The agent of that name in the tenant of the call. A service account names the tenant by `X-Tenant-Id`.',
  access: 'bearer',
  params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 253, description: 'Name of the agent.' }) }),
  success: { kind: 'json', description: 'The agent.', schema: AgentIdentity, example: identityExample },
  errors: [unknownAgent],
});

/** spec 1 §4.1. */
export const listAgents = defineContract({
  operationId: 'listAgents',
  method: 'get',
  path: '/v1/agents',
  tag,
  summary: 'List agents',
  description: 'The agents of the tenant of the call, by name. Agents that all tenants share are not listed.',
  access: 'bearer',
  query: Type.Object({ q: wordsQuery('agents'), ...pageQuery('Agents') }),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      { agents: Type.Array(AgentIdentity), next_cursor: nextCursor },
      { additionalProperties: false },
    ),
    example: { agents: [identityExample], next_cursor: null },
  },
  errors: [unknownCursor],
});

export const registerAgent = defineContract({
  operationId: 'registerAgent',
  method: 'post',
  path: '/v1/agents/register',
  tag,
  summary: 'Register an agent',
  description:
    'Takes one agent as YAML or JSON, at most 1 MiB: as a manifest, or as the custom resource, which keeps version and ' +
    'description under `spec`. The same again changes nothing and answers the same id. Executions under way keep the ' +
    'content they started with.',
  access: 'bearer',
  query: Type.Object({
    scope: oneOf(agentScopes, {
      default: 'tenant',
      description: 'Where to register it; `global` shares it with every tenant and needs an operator.',
    }),
    force: Type.Boolean({ default: false, description: 'Replace a version that exists with other content.' }),
  }),
  body: {
    kind: 'text',
    mediaTypes: ['application/yaml', 'application/x-yaml', 'text/yaml', 'application/json'],
    schema: AgentManifest,
    example: manifestExample,
  },
  success: {
    kind: 'json',
    description: 'It is registered.',
    schema: AgentRegistration,
    example: { ...identityExample, version: '1.2.0', registration: 'created' },
  },
  errors: [
    {
      status: 400,
      error: 'invalid_manifest',
      when: 'The manifest is not valid. `details` lists every problem with its path; nothing was written.',
    },
    operatorsForGlobal,
    unknownTenant,
    { status: 409, error: 'conflict', when: 'The version exists with other content, and `force` was not given.' },
    quotaExceeded,
  ],
});

export const readAgent = defineContract({
  operationId: 'readAgent',
  method: 'get',
  path: '/v1/agents/{agent}',
  tag,
  summary: 'Read an agent',
  description: 'The definition in the form of the manifest. An agent that is named `register` is read by its id.',
  access: 'bearer',
  params: agentParams,
  query: Type.Object({
    version: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'A stored version instead of the newest.' }),
    ),
  }),
  success: { kind: 'json', description: 'The definition.', schema: AgentDefinition, example: definitionExample },
  errors: [unknownAgent, unknownVersion],
});

export const listAgentVersions = defineContract({
  operationId: 'listAgentVersions',
  method: 'get',
  path: '/v1/agents/{agent}/versions',
  tag,
  summary: 'List the versions of an agent',
  access: 'bearer',
  params: agentParams,
  success: {
    kind: 'json',
    description: 'Its versions, the newest first.',
    schema: Type.Object({ versions: Type.Array(AgentVersion) }, { additionalProperties: false }),
    example: { versions: [{ version: '1.2.0', registered_at: definitionExample.created_at, current: true }] },
  },
  errors: [unknownAgent],
});

export const deleteAgent = defineContract({
  operationId: 'deleteAgent',
  method: 'delete',
  path: '/v1/agents/{agent}',
  tag,
  summary: 'Delete an agent',
  description: 'Deletes all its versions. Executions under way keep the content they started with.',
  access: 'bearer',
  params: agentParams,
  success: {
    kind: 'json',
    description: 'It is deleted, or is being deleted: then `deleting` says so.',
    schema: Type.Object(
      {
        agent_id: Type.String({ format: 'uuid' }),
        name: Type.String(),
        deleted_at: timestamp(),
        deleting: deletingField,
      },
      { additionalProperties: false },
    ),
    example: { agent_id: identityExample.agent_id, name: 'reviewer', deleted_at: '2026-11-02T10:00:00.000Z' },
  },
  errors: [
    unknownAgent,
    notAnOperator,
    { status: 409, error: 'conflict', when: 'Another agent of that name was registered meanwhile.' },
  ],
});

export const contracts: readonly Contract[] = [
  lookupAgent,
  listAgents,
  registerAgent,
  readAgent,
  listAgentVersions,
  deleteAgent,
];
