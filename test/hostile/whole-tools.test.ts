import { describe, expect, it } from 'vitest';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { createRegistrationRoutes, type RegistrationDeps } from '../../gateway/routes/registrations.ts';
import { partlyKept } from '../../lib/api-spec/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCache, createWholeObjects, type Informer } from '../../lib/informer/index.ts';
import { KubeError } from '../../lib/kube/index.ts';

/**
 * The attacker has made tool workflows of 1.3 MB of `{}`, 26 MB of heap each, and asks for all of them at once. A gateway reads one
 * after another, and asks for room before it reads.
 */
const uidOf = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
const steps = [{ name: 's', operation_id: 'o', body_template: '{}', on_error: 'AbortWorkflow' }];
const schema = { type: 'object', default: Array.from({ length: 140_000 }, () => ({})) };
const workflows = Array.from({ length: 24 }, (_, at): ToolWorkflow => {
  const metadata = { name: `w${at}`, namespace: 'tenant-a', uid: uidOf(at), resourceVersion: '1' };
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'ToolWorkflow',
    metadata,
    spec: { description: 'd', input_schema: schema, steps },
  } as unknown as ToolWorkflow;
});

function setUp() {
  const reading = { now: 0, most: 0, all: 0 };
  const kube = {
    async get(_kind: unknown, { name }: { name: string }) {
      const found = workflows.find(({ metadata }) => metadata.name === name);
      if (found === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
      reading.now += 1;
      reading.all += 1;
      reading.most = Math.max(reading.most, reading.now);
      await systemClock.sleep(5);
      reading.now -= 1;
      return found;
    },
  };
  const wholes = createWholeObjects<ToolWorkflow>({
    ...partlyKept.ToolWorkflow,
    kube: kube as never,
    clock: systemClock,
    keptBytes: 1_024,
  });
  const cache = createCache<ToolWorkflow, 'namespace'>({ indexes: { namespace: () => ['tenant-a'] } });
  for (const workflow of workflows) cache.apply({ type: 'ADDED', object: wholes.slim(workflow) });
  const toolWorkflows: Pick<Informer<ToolWorkflow, 'namespace'>, 'cache' | 'whole' | 'use' | 'weight'> = {
    cache,
    whole: (slim) => wholes.read(slim),
    use: (slim, task) => wholes.use(slim, task),
    weight: (slim) => wholes.weight(slim),
  };
  const none = {
    ...toolWorkflows,
    cache: createCache<ToolWorkflow, 'namespace'>({ indexes: { namespace: () => [] } }),
  };
  const routes = createRegistrationRoutes({
    news: { made: async () => undefined, gone: async () => undefined, written: async () => undefined },
    cluster: { informers: { toolWorkflows, apiSpecs: none, cliTools: none } },
    tenancy: { visibleTo: () => ['tenant-a'] },
    clock: systemClock,
    kube,
  } as unknown as RegistrationDeps);
  const route = routes.find(({ contract }) => contract.operationId === 'readToolWorkflow');
  const read = async (at: number, reserve: (bytes: number) => Promise<void>): Promise<unknown> =>
    route?.handle({ params: { id: uidOf(at) }, caller: { tenant: 'a' }, reserve } as never);
  return { reading, read };
}

describe('two dozen requests of one tenant for large tool workflows', () => {
  it('read one object after another', async () => {
    const { reading, read } = setUp();
    const answers = await Promise.all(workflows.map((_, at) => read(at, async () => undefined)));
    expect(answers).toHaveLength(workflows.length);
    expect(reading).toEqual({ now: 0, most: 1, all: workflows.length });
  });

  it('ask for the room that an object takes, and read nothing without it', async () => {
    const { reading, read } = setUp();
    const full = new Error('there is no room');
    const asked: number[] = [];
    const reserve = async (bytes: number): Promise<void> => {
      asked.push(bytes);
      throw full;
    };
    await expect(read(0, reserve)).rejects.toBe(full);
    expect(asked[0]).toBeGreaterThan(1_048_576);
    expect(reading.all).toBe(0);
  });
});
