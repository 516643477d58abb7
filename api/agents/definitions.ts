import { LRUCache } from 'lru-cache';
import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import { pinnedAgent } from '../../lib/agent/pinned-agent.ts';
import { AppError, hasReason } from '../../lib/errors.ts';
import { heapBytes } from '../../lib/heap-bytes.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { type NamedSecurity, readSecurityContext } from '../../lib/agent/security-context.ts';

/** An agent as an execution runs it. */
interface AgentDefinition extends NamedSecurity {
  readonly spec: AgentSpec;
}

/** Definitions of running executions. A revision never changes; a SecurityContext is read again after a while. */
export interface Definitions {
  /**
   * `anew`: nothing that was read before will do.
   * @throws AppError with the reason `DefinitionLost` or `SecurityContextNotFound`.
   */
  of(execution: AgentExecution, anew?: 'anew'): Promise<AgentDefinition>;
}

/** By the heap that they take: versions that were stored before their size had a bound are read again each time. */
const kept = { bytes: bytesOf('agent definitions'), entryBytes: 4 * 1024 * 1024, ms: 30_000 } as const;

interface DefinitionsDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Pick<Clock, 'steadyMs'>;
}

export function createDefinitions({ kube, clock }: DefinitionsDeps): Definitions {
  const known = new LRUCache<string, AgentDefinition>({
    maxSize: kept.bytes,
    maxEntrySize: kept.entryBytes,
    sizeCalculation: (definition) => heapBytes(definition, kept.bytes),
    ttl: kept.ms,
    ttlResolution: 0,
    perf: { now: () => clock.steadyMs() },
  });
  /** All conversations of an agent ask at one time when its definition is to be read again. */
  const reading = new Map<string, Promise<AgentDefinition>>();
  const readOnce = async (key: string, execution: AgentExecution): Promise<AgentDefinition> => {
    try {
      const definition = await read(kube, execution);
      known.set(key, definition);
      return definition;
    } catch (error) {
      // Its context is gone: no other conversation is to go by it.
      if (hasReason(error, 'SecurityContextNotFound')) known.delete(key);
      throw error;
    } finally {
      reading.delete(key);
    }
  };
  return {
    async of(execution, anew) {
      const key = keyOf(execution);
      const held = anew === undefined ? known.get(key) : undefined;
      if (held !== undefined) return held;
      const begun = reading.get(key) ?? readOnce(key, execution);
      reading.set(key, begun);
      return begun;
    },
  };
}

const keyOf = ({ metadata, status }: AgentExecution): string =>
  JSON.stringify([metadata.namespace, status?.agent?.namespace, status?.agent?.revision, status?.agent?.uid]);

async function read(kube: Pick<KubeClient, 'get'>, execution: AgentExecution): Promise<AgentDefinition> {
  const { metadata, status } = execution;
  const spec = await pinnedAgent(kube, status?.agent);
  if (spec === undefined) throw lost(execution);
  const place = { namespace: metadata.namespace ?? '', field: 'spec.security.context' };
  return { spec, ...(await readSecurityContext(kube, spec.security?.context, place)) };
}

const lost = ({ status }: AgentExecution): AppError =>
  new AppError('not_found', `version ${status?.agent?.version} of agent ${status?.agent?.name} is gone`, {
    reason: 'DefinitionLost',
  });
