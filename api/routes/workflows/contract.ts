import { Type } from 'typebox';
import { oneOf, timestamp } from '../../../crds/schema/parts.ts';
import { WorkflowManifest } from '../../../crds/schema/workflow-manifest.ts';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { deletingField } from '../being-deleted.ts';
import { unknownTenant, unknownVersion, unknownWorkflow } from '../not-found.ts';
import { nextCursor, pageQuery, unknownCursor, wordsQuery } from '../../../lib/http/paging.ts';
import { notAnOperator, operatorsAlone, operatorsForGlobal, quotaExceeded } from './errors.ts';
import { definitionExample, identityExample, manifestExample, summaryExample } from './examples.ts';
import {
  scopeField,
  scopeQuery,
  WorkflowDefinition,
  WorkflowIdentity,
  WorkflowRegistration,
  WorkflowSummary,
  WorkflowVersion,
  workflowParams,
} from './schema.ts';

const tag = 'Workflows';
const force = Type.Boolean({ default: false, description: 'Replace a version that exists with other content.' });

/** spec 1 §4.9, requirements AMB-054. */
export const registerWorkflow = defineContract({
  operationId: 'registerWorkflow',
  method: 'post',
  path: '/v1/workflows/register',
  tag,
  summary: 'Register a workflow',
  description:
    'Takes one workflow as YAML or JSON, at most 1 MiB. It is in the form of the manifest, or in that of the custom resource, ' +
    'which keeps version, description, schemas and output template under `spec`. The same again changes nothing and ' +
    'answers the same id. Executions under way keep the content they started with.',
  access: 'bearer',
  query: Type.Object({
    scope: scopeField('Where to register it; `global` needs an operator.', { default: 'tenant' }),
    force,
  }),
  body: {
    kind: 'text',
    mediaTypes: ['application/yaml', 'application/x-yaml', 'text/yaml', 'application/json'],
    schema: WorkflowManifest,
    example: manifestExample,
  },
  success: {
    kind: 'json',
    description: 'It is registered.',
    schema: WorkflowRegistration,
    example: { ...identityExample, registration: 'created', form: 'manifest' },
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

export const listWorkflows = defineContract({
  operationId: 'listWorkflows',
  method: 'get',
  path: '/v1/workflows',
  tag,
  summary: 'List workflows',
  description:
    'The workflows that you can run, by name: your own, those of the tenant and the global ones. Where a name is ' +
    'in several scopes, the narrowest is the one that runs.',
  access: 'bearer',
  query: Type.Object({
    scope: Type.Optional(scopeField('Only those of this scope.')),
    label: Type.Optional(
      Type.String({
        pattern: '^[^=,]+=[^=,]*(,[^=,]+=[^=,]*){0,19}$',
        maxLength: 2_048,
        description: 'Only those with these labels: `key=value`, up to 20 with commas between them.',
      }),
    ),
    q: wordsQuery('workflows'),
    ...pageQuery('Workflows'),
  }),
  success: {
    kind: 'json',
    description: 'One page.',
    schema: Type.Object(
      {
        workflows: Type.Array(WorkflowSummary),
        next_cursor: nextCursor,
      },
      { additionalProperties: false },
    ),
    example: { workflows: [summaryExample], next_cursor: null },
  },
  errors: [unknownCursor],
});

/** requirements AMB-016. */
export const readWorkflow = defineContract({
  operationId: 'readWorkflow',
  method: 'get',
  path: '/v1/workflows/{workflow}',
  tag,
  summary: 'Read a workflow',
  description:
    'The definition in the form of the manifest. A workflow that is named `executions` or `register` is read by its id.',
  access: 'bearer',
  params: workflowParams,
  query: Type.Object({
    ...scopeQuery,
    version: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'A stored version instead of the newest.' }),
    ),
  }),
  success: {
    kind: 'json',
    description: 'The definition.',
    schema: WorkflowDefinition,
    example: definitionExample,
  },
  errors: [unknownWorkflow, unknownVersion],
});

export const listWorkflowVersions = defineContract({
  operationId: 'listWorkflowVersions',
  method: 'get',
  path: '/v1/workflows/{workflow}/versions',
  tag,
  summary: 'List the versions of a workflow',
  access: 'bearer',
  params: workflowParams,
  query: Type.Object(scopeQuery),
  success: {
    kind: 'json',
    description: 'Its versions, the newest first.',
    schema: Type.Object({ versions: Type.Array(WorkflowVersion) }, { additionalProperties: false }),
    example: { versions: [{ version: '1.2.0', registered_at: summaryExample.created_at, current: true }] },
  },
  errors: [unknownWorkflow],
});

export const deleteWorkflow = defineContract({
  operationId: 'deleteWorkflow',
  method: 'delete',
  path: '/v1/workflows/{workflow}',
  tag,
  summary: 'Delete a workflow',
  description: 'Deletes all its versions. Executions under way keep the content they started with.',
  access: 'bearer',
  params: workflowParams,
  query: Type.Object(scopeQuery),
  success: {
    kind: 'json',
    description: 'It is deleted, or is being deleted: then `deleting` says so.',
    schema: Type.Object(
      {
        workflow_id: Type.String({ format: 'uuid' }),
        name: Type.String(),
        deleted_at: timestamp(),
        deleting: deletingField,
      },
      { additionalProperties: false },
    ),
    example: { workflow_id: identityExample.workflow_id, name: 'review', deleted_at: '2026-11-02T10:00:00.000Z' },
  },
  errors: [
    unknownWorkflow,
    notAnOperator,
    { status: 409, error: 'conflict', when: 'Another workflow of that name was registered meanwhile.' },
  ],
});

const moveErrors = [
  operatorsAlone,
  unknownWorkflow,
  unknownTenant,
  {
    status: 409,
    error: 'conflict',
    when: 'The scope it would move to has another workflow of that name, and `force` was not given; or it is beyond that scope.',
  },
  quotaExceeded,
];

const moved = {
  kind: 'json' as const,
  description: 'It is in that scope, with all its versions. It has a new id if it moved; the former ids still find it.',
  schema: WorkflowIdentity,
  example: { ...identityExample, scope: 'global' },
};
const replace = Type.Boolean({
  default: false,
  description: 'Register it over another workflow of that name, as a newer version or in place of the same one.',
});

/** spec 1 §2.6, "promote and demote operations change scope afterwards". */
export const promoteWorkflow = defineContract({
  operationId: 'promoteWorkflow',
  method: 'post',
  path: '/v1/workflows/{workflow}/promote',
  tag,
  summary: 'Widen the scope of a workflow',
  description:
    'Moves it to a wider scope. By name it is the one of the nearest narrower scope. Executions under way are not ' +
    'touched. May be repeated after a failure: versions in that scope stay.',
  access: 'bearer',
  params: workflowParams,
  query: Type.Object({
    scope: oneOf(['tenant', 'global'], { default: 'global', description: 'Where to.' }),
    force: replace,
  }),
  success: moved,
  errors: moveErrors,
});

export const demoteWorkflow = defineContract({
  operationId: 'demoteWorkflow',
  method: 'post',
  path: '/v1/workflows/{workflow}/demote',
  tag,
  summary: 'Narrow the scope of a workflow',
  description:
    'Moves it into your tenant, or to you alone. By name it is the one of the nearest wider scope. Executions under way ' +
    'are not touched. May be repeated after a failure: versions in that scope stay.',
  access: 'bearer',
  params: workflowParams,
  query: Type.Object({
    scope: oneOf(['tenant', 'user'], { default: 'tenant', description: 'Where to.' }),
    force: replace,
  }),
  success: moved,
  errors: moveErrors,
});

export const contracts: readonly Contract[] = [
  registerWorkflow,
  listWorkflows,
  readWorkflow,
  listWorkflowVersions,
  deleteWorkflow,
  promoteWorkflow,
  demoteWorkflow,
];
