import { describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { World } from '../../test/builders/world.ts';
import type { AgentFact } from './engine/facts.ts';
import { type LearnDeps, learn } from './learn.ts';

const fact: AgentFact = {
  name: 'a',
  uid: 'a-1',
  madeBy: { state: 's', visit: 1 },
  phase: 'completed',
  cancelled: false,
};
const agent = (output?: string): AgentExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name: 'a', namespace: 'default', uid: 'a-1', resourceVersion: '3' },
  spec: {
    agent: 'writer',
    parent: { name: 'demo-1', uid: 'w', state: 's', visit: 1 },
    result: { phase: 'completed', at: '2026-01-01T00:00:00Z', ...(output === undefined ? {} : { output }) },
  },
});
const volume = (uid: string, namespace = 'default'): Volume => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'Volume',
  metadata: { name: `volume-${uid}`, namespace, uid, resourceVersion: '3' },
  spec: { storage_class: 'persistent' },
  status: { phase: 'ready', claim_name: 'claim' },
});

interface There {
  readonly agents?: readonly AgentExecution[];
  readonly whole?: AgentExecution;
  readonly cached?: readonly Volume[];
  readonly onServer?: readonly Volume[];
}

/** The dependencies of learning, with these objects in the caches and on the server. */
function depsOf({ agents = [], whole, cached = [], onServer = [] }: There): LearnDeps {
  const caches = {
    agents: createCache<AgentExecution, 'parentUid'>({ indexes: { parentUid: () => [] } }),
    volumes: createCache<Volume>(),
  };
  caches.agents.replaceAll(agents, '5');
  caches.volumes.replaceAll(cached, '5');
  const kube = {
    list: async () => ({ metadata: {}, items: onServer.map(({ metadata }) => ({ metadata })) }),
    get: async (_resource: unknown, { name }: { readonly name: string }) => {
      const found = onServer.find(({ metadata }) => metadata.name === name);
      if (found === undefined)
        throw new KubeError(404, { reason: 'NotFound' } as never, { verb: 'get', resource: 'v' });
      return found;
    },
  };
  return { caches, kube, wholeAgents: { whole: async () => whole } } as never;
}

const facts = new World(aWorkflow('w').state('s', anEnd()).build()).facts({ agents: [fact] });

const agentsAfter = async (there: There) => (await learn(depsOf(there), facts, [{ kind: 'agent', uid: 'a-1' }])).agents;
const volumeAfter = async (there: There) =>
  (await learn(depsOf(there), facts, [{ kind: 'volume', uid: 'v-1' }])).volumesByUid;

describe('the final text of an agent', () => {
  it('is read in full when it is needed', async () => {
    expect(await agentsAfter({ agents: [agent()], whole: agent('text') })).toMatchObject([
      { uid: 'a-1', output: 'text' },
    ]);
  });

  it.each<[string, There]>([
    ['the cache', {}],
    ['the server', { agents: [agent()] }],
  ])('is lost where the agent is gone from %s: it counts as failed', async (_where, there) => {
    expect(await agentsAfter(there)).toMatchObject([{ phase: 'failed', output: '', why: { reason: 'Deleted' } }]);
  });

  it('leaves other agents as they are', async () => {
    const other = { ...fact, uid: 'a-2' };
    const two = { ...facts, agents: [fact, other] };
    const known = await learn(depsOf({ agents: [agent()], whole: agent('x') }), two, [{ kind: 'agent', uid: 'a-1' }]);
    expect(known.agents?.[1]).toEqual(other);
  });
});

describe('a volume that the workflow does not declare', () => {
  it('WF-STATE-05 is found by its uid', async () => {
    expect((await volumeAfter({ cached: [volume('v-1')] }))?.get('v-1')).toMatchObject({
      volume: 'volume-v-1',
      phase: 'ready',
    });
  });

  it('WF-STATE-05 is asked of the server where the cache has it not yet', async () => {
    expect((await volumeAfter({ onServer: [volume('v-0'), volume('v-1')] }))?.get('v-1')).toMatchObject({
      volume: 'volume-v-1',
    });
  });

  it.each<[string, There]>([
    ['nowhere', {}],
    ['in another namespace', { cached: [volume('v-1', 'other')] }],
  ])('that is %s is none, which is known from then on', async (_where, there) => {
    const known = await volumeAfter(there);
    expect([known?.has('v-1'), known?.get('v-1')]).toEqual([true, undefined]);
  });
});

describe('a stored output', () => {
  const locator = 'json/execution-uid/output-1/10';
  const after = async (status: number, reason: string, message: string) => {
    const missing = new KubeError(status, { reason, message }, { verb: 'get', resource: 'configmaps' });
    const store = { get: () => Promise.reject(missing) };
    return learn({ store } as never, facts, [{ kind: 'blob', locator }]);
  };

  it('is lost where the server has looked for it', async () => {
    const known = await after(404, 'NotFound', 'configmaps "output-1" not found');
    expect(known.unreadable?.has(locator)).toBe(true);
  });

  it('is not lost by a 404 that is no answer about it', async () => {
    await expect(after(404, '', '404 page not found')).rejects.toMatchObject({ status: 404 });
    await expect(after(404, 'NotFound', 'the server could not find the requested resource')).rejects.toMatchObject({
      status: 404,
    });
  });
});
