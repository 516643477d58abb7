import { describe, expect, it } from 'vitest';
import { globalNamespace } from '../../../crds/labels.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { createCache } from '../../../lib/informer/cache.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import { revisionOf } from '../../../lib/registration/revision.ts';
import { anAgent } from '../../../test/builders/agent-builder.ts';
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
  return findDefinition({ kube: kube as never, agents, readAgent: async () => undefined }, execution, start + 60_000);
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

describe('D8 a global agent whose name the tenant has too, of which the cache shows nothing', () => {
  const accepted = (agent: Agent): Agent => {
    const ready = { type: 'Ready', status: 'True' as const, reason: 'Accepted', message: '', observedGeneration: 1 };
    const conditions = [{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    return { ...agent, status: { revision: revisionOf(agent).metadata.name ?? '', conditions } };
  };
  const globalUid = '0b9f2c1e-1111-4222-8333-444455556666';
  const global = accepted(anAgent('writer', { version: '1.0.0' }, { namespace: globalNamespace, uid: globalUid }));
  const own = anAgent('writer', { version: '2.0.0' }, { namespace: 'tenant-a', uid: 'own' });

  /** How an execution begins, and the places that were read. */
  async function begins(server: readonly Agent[], spec: object = {}, namespace = 'tenant-a') {
    const agents = createCache<Agent, 'namespace'>({ indexes: { namespace: () => [] } });
    agents.replaceAll([global], '5');
    const read: string[] = [];
    const of = (place: { readonly namespace?: string; readonly name: string }) =>
      [...server, ...[global, ...server].map((agent) => revisionOf(agent))].find(
        ({ metadata }) => metadata.name === place.name && metadata.namespace === place.namespace,
      );
    const kube = {
      async get(_resource: unknown, place: { readonly namespace: string; readonly name: string }) {
        const found = of(place);
        if (found !== undefined) return found;
        throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
      },
      list: async () => ({ metadata: {}, items: [] }),
    };
    const readAgent = async (place: { readonly namespace?: string; readonly name: string }) => {
      read.push(`${place.namespace}/${place.name}`);
      return of(place) as Agent | undefined;
    };
    const metadata = { name: 'run', namespace, creationTimestamp: new Date(start).toISOString() };
    const execution = { metadata, spec: { agent: 'writer', ...spec } } as AgentExecution;
    const found = await findDefinition({ kube: kube as never, agents, readAgent }, execution, start + 60_000);
    return { found, read };
  }

  it('AGENT-05 is not what an execution begins with', async () => {
    const { found } = await begins([accepted(own)]);
    expect(found).toMatchObject({ kind: 'found', agent: { uid: 'own', namespace: 'tenant-a', version: '2.0.0' } });
  });

  it('AGENT-05 is not what runs, or fails, while the own one is not accepted yet, or is being deleted', async () => {
    expect((await begins([own])).found).toMatchObject({ kind: 'waits', why: { reason: 'AgentNotReady' } });
    expect((await begins([own], { version: '2.0.0' })).found).toMatchObject({ kind: 'waits' });
    const leaving = { ...own, metadata: { ...own.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect((await begins([leaving])).found).toMatchObject({ kind: 'failed', why: { reason: 'AgentNotFound' } });
  });

  it('AGENT-05 is what an execution begins with where the server has none of the tenant, which takes one read', async () => {
    const { found, read } = await begins([]);
    expect(found).toMatchObject({ kind: 'found', agent: { uid: globalUid } });
    expect(read).toEqual(['tenant-a/writer']);
  });

  it.each([
    ['its id', { agent: globalUid }, 'tenant-a'],
    ['its name in its namespace', {}, globalNamespace],
  ])('is found by %s without a read', async (_title, spec, namespace) => {
    const { found, read } = await begins([own], spec, namespace);
    expect(found).toMatchObject({ kind: 'found', agent: { uid: globalUid } });
    expect(read).toEqual([]);
  });
});
