import { type Static, Type } from 'typebox';
import { AgentManifest } from '../../../crds/schema/agent-manifest.ts';
import { Condition } from '../../../crds/schema/condition.ts';
import { oneOf, timestamp } from '../../../crds/schema/parts.ts';

/** Path parameter of the routes about one agent. */
export const agentParams = Type.Object({
  agent: Type.String({ minLength: 1, maxLength: 253, description: 'Id or name of the agent.' }),
});

/** spec 1 §2.1. */
export const AgentIdentity = Type.Object(
  {
    agent_id: Type.String({ format: 'uuid', description: 'The uid of the Agent object.' }),
    name: Type.String({ description: 'Unique within the tenant.' }),
    tenant_id: Type.String({
      description: 'Slug of the tenant that owns it; `global` for one that all tenants share.',
    }),
  },
  { additionalProperties: false },
);
export type AgentIdentity = Static<typeof AgentIdentity>;

export const agentScopes = ['tenant', 'global'] as const;
const version = Type.String({ description: 'Semantic version.' });
const Warning = Type.Object({ path: Type.String(), message: Type.String() }, { additionalProperties: false });

export const AgentRegistration = Type.Object(
  {
    ...AgentIdentity.properties,
    version,
    registration: oneOf(['created', 'updated', 'unchanged'], { description: 'Effect of the registration.' }),
    warnings: Type.Optional(Type.Array(Warning, { description: 'Parts that deserve a look but are no mistakes.' })),
  },
  { additionalProperties: false },
);

/** The manifest as it was registered, its short forms written out, and what the cluster says about it. */
export const AgentDefinition = Type.Object(
  {
    ...AgentManifest.properties,
    agent_id: AgentIdentity.properties.agent_id,
    tenant_id: AgentIdentity.properties.tenant_id,
    created_at: timestamp(),
    ready: Type.Boolean({ description: 'The controllers have accepted this definition; it can be run.' }),
    reason: Type.Optional(Type.String({ description: 'Why it is not ready, in a word.' })),
    message: Type.Optional(Type.String({ description: 'Why it is not ready, in a sentence.' })),
    conditions: Type.Array(Condition, { description: 'As on the object; they are about the newest version.' }),
  },
  { additionalProperties: false },
);

export const AgentVersion = Type.Object(
  {
    version,
    registered_at: timestamp(),
    current: Type.Boolean({ description: 'The version that runs unless another is asked for.' }),
  },
  { additionalProperties: false },
);
