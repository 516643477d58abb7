import { describe, expect, it } from 'vitest';
import { globalNamespace } from '../../crds/labels.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import { createCache } from '../../lib/informer/index.ts';
import { agents as agentKind } from '../../lib/kinds.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createTenantObjects } from './tenant-objects.ts';

const uid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const agent = (name: string, namespace: string, number: number): Agent =>
  anAgent(name, {}, { namespace, uid: uid(number), resourceVersion: `${number}` });

const mine = agent('mine', 'tenant-a', 11);
const theirs = agent('theirs', 'tenant-b', 12);
const late = agent('late', 'tenant-a', 13);
const shared = agent('judge', globalNamespace, 14);
const idLike = agent(uid(77), 'tenant-a', 15);

function setUp() {
  const clock = createManualClock();
  const cache = createCache<Agent, 'namespace'>({
    indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
  });
  cache.replaceAll([mine, theirs], '12');
  const server = [mine, theirs, late, shared, idLike];
  const kube = {
    list: async (_: unknown, { namespace }: { namespace: string }) => {
      const items = server.filter(({ metadata }) => metadata.namespace === namespace);
      return { metadata: {}, items: items.map(({ metadata }) => ({ metadata })) };
    },
    get: async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      const found = server.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
      if (found === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
      return found;
    },
  };
  const tenants = {
    namespaceOf: (slug: string) => (['a', 'b'].includes(slug) ? `tenant-${slug}` : undefined),
    tenantOf: () => undefined,
    uidOf: () => undefined,
    assigneeOf: () => undefined,
  };
  const whole = async (one: Agent) => one;
  const deps = { kube: kube as never, clock, cache, whole, weight: () => 7, tenants };
  const objects = createTenantObjects({ ...deps, resource: agentKind, shared: globalNamespace });
  const settled = async <T>(answer: Promise<T>): Promise<T> => {
    await clock.advance(5_000);
    return answer;
  };
  return { objects, settled };
}

describe('an object of a tenant', () => {
  it.each([
    ['its own by id', 'a', uid(11), 'mine'],
    ['its own by name', 'a', 'mine', 'mine'],
    ['one that the cache does not have yet, by id', 'a', uid(13), 'late'],
    ['one that the cache does not have yet, by name', 'a', 'late', 'late'],
    ['one that all share, by id', 'a', uid(14), 'judge'],
    ['one that all share, by name', 'b', 'judge', 'judge'],
  ])('is found: %s', async (_title, tenant, nameOrUid, name) => {
    const { objects, settled } = setUp();
    expect((await settled(objects.find(tenant, nameOrUid)))?.metadata.name).toBe(name);
  });

  it.each([
    ["another tenant's by id", 'b', uid(11)],
    ["another tenant's by name", 'b', 'mine'],
    ['one of a tenant that is not set up', 'c', 'mine'],
    ['one whose name is that id', 'a', uid(77)],
    ['a text that is no name', 'a', '../mine'],
  ])('ORCH-AUTH-11 is not found: %s', async (_title, tenant, nameOrUid) => {
    const { objects, settled } = setUp();
    expect(await settled(objects.find(tenant, nameOrUid))).toBeUndefined();
  });

  it('is listed where it is its own', () => {
    const { objects } = setUp();
    expect(objects.list('a').map(({ metadata }) => metadata.name)).toEqual(['mine']);
    expect(objects.list('c')).toEqual([]);
  });

  it('is read in full only once there is room for it', async () => {
    const { objects, settled } = setUp();
    const reserved: number[] = [];
    await settled(objects.find('a', 'mine', async (bytes) => void reserved.push(bytes)));
    expect(reserved).toEqual([7]);
  });
});
