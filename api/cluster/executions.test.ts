import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { approvalIdOf } from '../../lib/decision/approval-id.ts';
import { createCache } from '../../lib/informer/index.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createExecutions } from './executions.ts';

const uid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

function execution(name: string, namespace: string, number: number): WorkflowExecution {
  const built = anExecution(name).now({ state: 'ask', kind: 'Human' }).build();
  return { ...built, metadata: { ...built.metadata, namespace, uid: uid(number), resourceVersion: `${number}` } };
}

const approvalOf = (one: WorkflowExecution): string => approvalIdOf(one) ?? '';
const mine = execution('mine', 'tenant-a', 11);
const theirs = execution('theirs', 'tenant-b', 12);
const late = execution('late', 'tenant-a', 13);
const lateUidLike = execution(uid(77), 'tenant-a', 14);

function setUp() {
  const clock = createManualClock();
  const cache = createCache<WorkflowExecution, 'namespace' | 'approval' | 'asking'>({
    indexes: {
      namespace: ({ metadata }) => [metadata.namespace ?? ''],
      approval: (one) => [approvalOf(one)],
      asking: ({ metadata }) => [metadata.namespace ?? ''],
    },
  });
  cache.replaceAll([mine, theirs], '12');
  const server = [mine, theirs, late, lateUidLike];
  const asked: string[] = [];
  const kube = {
    list: async (_: unknown, { namespace }: { namespace: string }) => {
      asked.push(namespace);
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
  const executions = createExecutions({
    kube: kube as never,
    clock,
    cache,
    whole: async (one) => one,
    weight: () => 0,
    tenants,
  });
  const settled = async <T>(answer: Promise<T>): Promise<T> => {
    await clock.advance(5_000);
    return answer;
  };
  return { executions, asked, settled, cache };
}

describe('an execution of a tenant', () => {
  it.each([
    ['its own', 'a', uid(11), 'mine'],
    ['its own by name', 'a', 'mine', 'mine'],
    ['one that the watch has not brought', 'a', uid(13), 'late'],
    ['one that the watch has not brought, by name', 'a', 'late', 'late'],
    ['one that is named like an id, by that name', 'a', uid(77), undefined],
    ['that of another tenant', 'a', uid(12), undefined],
    ['that of another tenant by name', 'a', 'theirs', undefined],
    ['one of no tenant', 'a', uid(99), undefined],
    ['any, for a tenant that is not set up', 'x', uid(11), undefined],
    ['something that is no name', 'a', '../mine', undefined],
    ['a prototype', 'a', '__proto__', undefined],
  ])('WF-API-02 is found or not: %s', async (_title, tenant, id, want) => {
    const { executions, settled } = setUp();
    expect((await settled(executions.find(tenant, id)))?.metadata.name).toBe(want);
  });

  it('AMB-037 of another tenant is looked for exactly as long as an unknown one', async () => {
    const foreign = setUp();
    const unknown = setUp();
    await foreign.settled(foreign.executions.find('a', uid(12)));
    await unknown.settled(unknown.executions.find('a', uid(99)));
    expect(foreign.asked).toEqual(unknown.asked);
    expect(foreign.asked).toEqual(['tenant-a']);
  });

  it('an unknown one is not looked for again, one that comes later is found all the same', async () => {
    const { executions, settled, asked, cache } = setUp();
    await settled(executions.find('a', uid(99)));
    await settled(executions.find('a', uid(99)));
    expect(asked).toHaveLength(1);
    cache.apply({ type: 'ADDED', object: execution('new', 'tenant-a', 99) });
    expect((await settled(executions.find('a', uid(99))))?.metadata.name).toBe('new');
  });
});

it('WF-API-02 the version of an execution is that of the cache, and of no other tenant', () => {
  const { executions, cache } = setUp();
  const known = cache.getByUid(uid(11));
  expect(known?.metadata.resourceVersion).toBeDefined();
  expect(executions.versionOf('a', uid(11))).toBe(known?.metadata.resourceVersion);
  expect([executions.versionOf('b', uid(11)), executions.versionOf('x', uid(11))]).toEqual([undefined, undefined]);
  expect(executions.versionOf('a', uid(99))).toBeUndefined();
});

describe('what is asked', () => {
  it.each([
    ['of the tenant', 'a', mine, 'mine'],
    ['that the watch has not brought', 'a', late, 'late'],
    ['of another tenant', 'a', theirs, undefined],
    ['of a tenant that is not set up', 'x', mine, undefined],
  ])('AMB-037 is found or not: %s', async (_title, tenant, one, want) => {
    const { executions, settled } = setUp();
    expect((await settled(executions.asking(tenant, approvalOf(one))))?.metadata.name).toBe(want);
  });

  it('AMB-037 is listed for the tenant alone', () => {
    const { executions } = setUp();
    expect(executions.listAsking('a').map(({ metadata }) => metadata.name)).toEqual(['mine']);
    expect(executions.listAsking('x')).toEqual([]);
  });
});
