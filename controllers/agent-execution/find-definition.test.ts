import { describe, expect, it } from 'vitest';
import type { Agent } from '../../crds/schema/agent.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { revisionOf } from '../../lib/registration/revision.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { findDefinition } from './find-definition.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

function agentOf(version: string, resourceVersion: string): Agent {
  const agent = anAgent('writer', { version });
  return { ...agent, metadata: { ...agent.metadata, resourceVersion } };
}

/** Looks for version 2.0.0 where the cache has 1.0.0, and the server this. */
async function find(onServer: Agent | undefined, stored: readonly Agent[] = []) {
  const agents = createCache<Agent, 'namespace'>({ indexes: { namespace: () => [] } });
  agents.replaceAll([agentOf('1.0.0', '3')], '5');
  const revisions = stored.map((agent) => revisionOf(agent));
  const kube = {
    async get(_resource: unknown, { name }: { readonly name: string }) {
      const found = [onServer, ...revisions].find((one) => one?.metadata.name === name);
      if (found !== undefined) return found;
      throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
    },
    list: async () => ({ metadata: {}, items: revisions }),
  };
  const { namespace } = agentOf('1.0.0', '3').metadata;
  const execution = {
    metadata: { name: 'run', namespace, creationTimestamp: new Date(start).toISOString() },
    spec: { agent: 'writer', version: '2.0.0' },
  } as AgentExecution;
  return findDefinition({ kube: kube as never, agents }, execution, start + 60_000);
}

describe('D8 the version of an agent that the cache does not have', () => {
  it('waits for the controllers where it was applied a moment ago', async () => {
    expect(await find(agentOf('2.0.0', '7'))).toMatchObject({ kind: 'waits', why: { reason: 'AgentNotReady' } });
  });

  it('is found where the controllers have accepted it', async () => {
    const agent = agentOf('2.0.0', '7');
    const ready = { type: 'Ready', status: 'True' as const, reason: 'Accepted', message: '', observedGeneration: 1 };
    const conditions = [{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const accepted = { ...agent, status: { revision: revisionOf(agent).metadata.name ?? '', conditions } };
    const found = await find(accepted, [agent]);
    expect(found).toMatchObject({ kind: 'found', agent: { version: '2.0.0' } });
  });

  it.each([
    ['has the same agent', agentOf('1.0.0', '3')],
    ['has another version', agentOf('3.0.0', '7')],
    ['has no such agent any more', undefined],
  ])('fails where the server %s', async (_title, onServer) => {
    expect(await find(onServer)).toMatchObject({ kind: 'failed', why: { reason: 'VersionNotFound' } });
  });
});
