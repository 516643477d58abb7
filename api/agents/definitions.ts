import { LRUCache } from 'lru-cache';
import type { AgentSpec, SecurityContextSpec } from '../../crds/schema/agent.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { defaultContext } from '../../lib/agent/security-context.ts';
import { pinnedAgent } from '../../lib/agent/pinned-agent.ts';
import { AppError } from '../../lib/errors.ts';
import { securityContexts } from '../../lib/kinds.ts';
import { findObject, type KubeClient } from '../../lib/kube/index.ts';
import { visiblePlaces } from '../../lib/tenant/visible-places.ts';

/** An agent as an execution runs it. */
export interface Definition {
  readonly spec: AgentSpec;
  /** Name of its SecurityContext. */
  readonly context: string;
  readonly security: SecurityContextSpec;
}

/** Definitions of running executions. A revision never changes; a SecurityContext is read again after a while. */
export interface Definitions {
  /** @throws AppError with the reason `DefinitionLost` or `SecurityContextNotFound`. */
  of(execution: AgentExecution): Promise<Definition>;
}

const kept = { definitions: 500, ms: 30_000 } as const;

export function createDefinitions(kube: Pick<KubeClient, 'get'>): Definitions {
  const known = new LRUCache<string, Definition>({ max: kept.definitions, ttl: kept.ms });
  return {
    async of(execution) {
      const key = keyOf(execution);
      const held = known.get(key);
      if (held !== undefined) return held;
      const definition = await read(kube, execution);
      known.set(key, definition);
      return definition;
    },
  };
}

const keyOf = ({ metadata, status }: AgentExecution): string =>
  JSON.stringify([metadata.namespace, status?.agent?.namespace, status?.agent?.revision, status?.agent?.uid]);

async function read(kube: Pick<KubeClient, 'get'>, execution: AgentExecution): Promise<Definition> {
  const { metadata, status } = execution;
  const spec = await pinnedAgent(kube, status?.agent);
  if (spec === undefined) throw lost(execution);
  const named = spec.security?.context;
  const context = named ?? defaultContext;
  const security = await contextOf(kube, metadata.namespace, context);
  if (security === undefined && named !== undefined) throw noContext(named);
  return { spec, context, security: security ?? {} };
}

/**
 * That of the execution's own namespace, so that the tenant that runs a global agent bounds it, or else the shared one, as
 * the tool gateway does for sessions (ADR 0054).
 */
async function contextOf(
  kube: Pick<KubeClient, 'get'>,
  own: string | undefined,
  name: string,
): Promise<SecurityContextSpec | undefined> {
  for (const namespace of visiblePlaces(own)) {
    const found = await findObject(kube, securityContexts, { namespace, name });
    if (found !== undefined) return found.spec;
  }
  return undefined;
}

const lost = ({ status }: AgentExecution): AppError =>
  new AppError('not_found', `version ${status?.agent?.version} of agent ${status?.agent?.name} is gone`, {
    reason: 'DefinitionLost',
  });

const noContext = (name: string): AppError =>
  new AppError(
    'not_found',
    `spec.security.context: there is no SecurityContext ${name} in the namespace, and no shared one; make it`,
    {
      reason: 'SecurityContextNotFound',
    },
  );
