import { type Static, Type } from 'typebox';
import { Condition } from '../../../crds/schema/condition.ts';
import { manifestNamePattern, oneOf, timestamp } from '../../../crds/schema/parts.ts';
import { WorkflowManifest } from '../../../crds/schema/workflow-manifest.ts';
import { scopes } from '../../../lib/workflow-lookup/index.ts';

export const scopeField = (description: string, options: object = {}) => oneOf(scopes, { description, ...options });

/** Path parameter: a uuid is of the same form as a name. */
export const workflowParams = Type.Object({
  workflow: Type.String({ pattern: manifestNamePattern, description: 'Name or id of the workflow.' }),
});

export const scopeQuery = {
  scope: Type.Optional(
    scopeField('Look only there. Default: your own workflows, then those of the tenant, then global ones.'),
  ),
};

const workflowId = Type.String({
  format: 'uuid',
  description: 'The uid of the Workflow object. A workflow that moved to another scope is found by its former ids too.',
});
const version = Type.String({ description: 'Semantic version.' });

/** A workflow by its names. */
export const WorkflowIdentity = Type.Object(
  {
    workflow_id: workflowId,
    name: Type.String(),
    version,
    scope: scopeField(
      'Users who may run it: `user` the one who registered it, `tenant` all of the tenant, `global` every tenant.',
    ),
  },
  { additionalProperties: false },
);
export type WorkflowIdentity = Static<typeof WorkflowIdentity>;

const Warning = Type.Object({ path: Type.String(), message: Type.String() }, { additionalProperties: false });

/** requirements AMB-054. */
export const WorkflowRegistration = Type.Object(
  {
    ...WorkflowIdentity.properties,
    registration: oneOf(['created', 'updated', 'unchanged'], { description: 'Effect of the registration.' }),
    form: oneOf(['manifest', 'resource'], { description: 'The form in which the body was read.' }),
    warnings: Type.Optional(
      Type.Array(Warning, {
        description: 'Parts that deserve a look but are no mistakes, such as a state that nothing leads to.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type WorkflowRegistration = Static<typeof WorkflowRegistration>;

const readiness = {
  ready: Type.Boolean({ description: 'The controllers have accepted this definition; it can be run.' }),
  reason: Type.Optional(Type.String({ description: 'Why it is not ready, in a word.' })),
  message: Type.Optional(Type.String({ description: 'Why it is not ready, in a sentence.' })),
};

export const WorkflowSummary = Type.Object(
  {
    ...WorkflowIdentity.properties,
    description: Type.Optional(Type.String()),
    labels: Type.Record(Type.String(), Type.String()),
    created_at: timestamp(),
    ...readiness,
  },
  { additionalProperties: false },
);
export type WorkflowSummary = Static<typeof WorkflowSummary>;

/** The manifest as it was registered, and what the cluster says about it (spec 1 §2.6, requirements AMB-060). */
export const WorkflowDefinition = Type.Object(
  {
    ...WorkflowManifest.properties,
    workflow_id: workflowId,
    scope: WorkflowIdentity.properties.scope,
    created_at: timestamp(),
    ...readiness,
    conditions: Type.Array(Condition, { description: 'As on the object; they are about the newest version.' }),
  },
  { additionalProperties: false },
);
export type WorkflowDefinition = Static<typeof WorkflowDefinition>;

export const WorkflowVersion = Type.Object(
  {
    version,
    registered_at: timestamp(),
    current: Type.Boolean({ description: 'The version that runs unless another is asked for.' }),
  },
  { additionalProperties: false },
);
export type WorkflowVersion = Static<typeof WorkflowVersion>;
