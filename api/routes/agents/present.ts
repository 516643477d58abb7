import { globalNamespace } from '../../../crds/labels.ts';
import type { Agent, AgentSpec } from '../../../crds/schema/agent.ts';
import { isBeingDeleted } from '../../../lib/being-deleted.ts';
import { toAgentManifest } from '../../../lib/manifest/index.ts';
import type { TenantDirectory } from '../../cluster/index.ts';
import { readinessOf } from '../workflows/present.ts';
import type { AgentIdentity } from './schema.ts';

export const isGlobal = ({ metadata }: Pick<Agent, 'metadata'>): boolean => metadata.namespace === globalNamespace;

/** spec 1 §2.1. */
export function presentIdentity(
  tenants: Pick<TenantDirectory, 'tenantOf'>,
  { metadata }: Pick<Agent, 'metadata'>,
): AgentIdentity {
  const owner = isGlobal({ metadata }) ? 'global' : tenants.tenantOf(metadata.namespace ?? '');
  return { agent_id: metadata.uid ?? '', name: metadata.name, tenant_id: owner ?? '' };
}

/** Presents one version. An older one was accepted when it was stored, whatever the newest one's state. */
export function presentDefinition(tenants: Pick<TenantDirectory, 'tenantOf'>, agent: Agent, spec: AgentSpec) {
  const { agent_id, tenant_id } = presentIdentity(tenants, agent);
  return {
    ...toAgentManifest({ metadata: agent.metadata, spec }),
    agent_id,
    tenant_id,
    created_at: agent.metadata.creationTimestamp ?? '',
    ...(spec.version === agent.spec.version || isBeingDeleted(agent) ? readinessOf(agent) : { ready: true }),
    conditions: agent.status?.conditions ?? [],
  };
}
