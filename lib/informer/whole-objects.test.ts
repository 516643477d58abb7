import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { slimExecution } from '../execution/slim-execution.ts';
import { longestWaitMs } from '../fair-pool.ts';
import { workflowExecutions } from '../kinds.ts';
import { KubeError } from '../kube/index.ts';
import { createWholeObjects } from './whole-objects.ts';

const slim = slimExecution;

function made(name: string, { version = 1, text = 'x' } = {}): WorkflowExecution {
  const built = anExecution(name).with({ input: { text } }).past({ state: 'a' }, text).build();
  return { ...built, metadata: { ...built.metadata, uid: name, resourceVersion: String(version) } };
}

function server(objects: readonly WorkflowExecution[], keptBytes = 1024 * 1024) {
  const asked: string[] = [];
  const get = async (_: unknown, { name }: { name: string }) => {
    asked.push(name);
    const found = objects.find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
    return found;
  };
  const clock = createManualClock();
  const options = { kube: { get: get as never }, clock, resource: workflowExecutions, slim, keptBytes };
  return { asked, clock, wholes: createWholeObjects(options) };
}

describe('an object of which the cache has a part', () => {
  it('that came a moment ago is there in full without a request', async () => {
    const { wholes, asked } = server([]);
    const kept = wholes.slim(made('a'));
    expect(kept.spec.input).toBeUndefined();
    expect((await wholes.read(kept))?.spec.input).toEqual({ text: 'x' });
    expect(asked).toEqual([]);
  });

  it('B1 is kept and weighed without the field managers and the copy of kubectl that a stranger fills it with', async () => {
    const object = made('a');
    const stranger = {
      managedFields: Array.from({ length: 23 }, () => ({ manager: 'x'.repeat(128), fieldsV1: 'y'.repeat(64_000) })),
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'z'.repeat(200_000), kept: 'k' },
    };
    const { wholes, asked } = server([{ ...object, metadata: { ...object.metadata, ...stranger } }]);
    const slimmed = slim(object);
    const { metadata } = (await wholes.read(slimmed)) ?? {};
    expect(metadata).not.toHaveProperty('managedFields');
    expect(metadata?.annotations).toEqual({ kept: 'k' });
    expect(wholes.weight(slimmed)).toBe(0);
    await wholes.read(slimmed);
    expect(asked).toEqual(['a']);
  });

  it('is read once by any number of readers', async () => {
    const { wholes, asked } = server([made('a')]);
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => wholes.read(slim(made('a')))));
    expect(answers.every((answer) => answer?.spec.input !== undefined)).toBe(true);
    expect(asked).toEqual(['a']);
  });

  it('is never given in a version older than the one of the cache', async () => {
    const { wholes, asked } = server([made('a', { version: 3, text: 'new' })]);
    wholes.slim(made('a', { version: 2, text: 'old' }));
    expect((await wholes.read(slim(made('a', { version: 3 }))))?.spec.input).toEqual({ text: 'new' });
    expect(asked).toEqual(['a']);
    // A late version takes the place of no newer one.
    wholes.slim(made('a', { version: 1, text: 'late' }));
    expect((await wholes.read(slim(made('a', { version: 2 }))))?.spec.input).toEqual({ text: 'new' });
    await expect(wholes.read(slim(made('a', { version: 4 })))).rejects.toMatchObject({ reason: 'StaleRead' });
  });

  it('is nothing when it is gone, or another one has its name', async () => {
    const another = made('a');
    const { wholes } = server([{ ...another, metadata: { ...another.metadata, uid: 'another' } }]);
    expect(await wholes.read(slim(made('a')))).toBeUndefined();
    expect(await wholes.read(slim(made('b')))).toBeUndefined();
  });

  it('is forgotten with the object', async () => {
    const { wholes } = server([]);
    const kept = wholes.slim(made('a'));
    wholes.forget(kept);
    expect(await wholes.read(kept)).toBeUndefined();
  });

  it('is kept up to a budget, the ones used last', async () => {
    const large = Array.from({ length: 20 }, (_, index) => made(`e${index}`, { text: 'x'.repeat(50_000) }));
    const { wholes, asked } = server(large);
    for (const one of large) await wholes.read(slim(one));
    asked.length = 0;
    for (const one of large.toReversed()) await wholes.read(slim(one));
    expect(asked.length).toBeGreaterThan(8);
    expect(asked.length).toBeLessThan(20);
    expect(asked).not.toContain('e19');
  });
});

describe('the weight of a large object', () => {
  /** Counts how often all members of the input are looked at. */
  function counted(generation: number, version: number, looks: { count: number }, size = 20_000): WorkflowExecution {
    const execution = made('large', { version });
    const members = Object.fromEntries(Array.from({ length: size }, (_, at) => [`k${at}`, 0]));
    const list = new Proxy(members, {
      ownKeys(target) {
        looks.count += 1;
        return Reflect.ownKeys(target);
      },
    });
    const metadata = { ...execution.metadata, generation };
    return { ...execution, metadata, spec: { ...execution.spec, input: { list } } };
  }

  it('is found without another look at its spec after a write of its status, and with one after a write of its spec', () => {
    const { wholes } = server([]);
    const looks = { count: 0 };
    const slim = wholes.slim(counted(1, 1, looks));
    const weight = wholes.weight(slim);
    expect(weight).toBeGreaterThan(20_000 * 24);
    expect(looks.count).toBe(1);
    expect(wholes.weight(wholes.slim(counted(1, 2, looks)))).toBe(weight);
    expect(looks.count).toBe(1);
    expect(wholes.weight(wholes.slim(counted(2, 3, looks, 40_000)))).toBeGreaterThan(weight * 1.5);
    expect(looks.count).toBe(2);
  });

  it.each(['forget', 'distrust'] as const)('is found anew after %s: a generation may then have another spec', (how) => {
    const { wholes } = server([]);
    const looks = { count: 0 };
    const before = counted(1, 1, looks);
    const weight = wholes.weight(wholes.slim(before));
    wholes[how](before);
    expect(wholes.weight(wholes.slim(counted(1, 2, looks, 40_000)))).toBeGreaterThan(weight * 1.5);
  });
});

describe('tasks that use objects', () => {
  /** About 40 MiB of heap each. */
  const huge = (name: string, namespace: string): WorkflowExecution => {
    const execution = made(name);
    const input = { list: Array.from({ length: 500_000 }, () => ({})) };
    return { ...execution, metadata: { ...execution.metadata, namespace }, spec: { ...execution.spec, input } };
  };

  it('take turns where the objects are large, and leave room for those of another namespace', async () => {
    const objects = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map((name) => huge(name, name.slice(0, 1)));
    const { clock, wholes } = server(objects);
    const running: string[] = [];
    let most = 0;
    const ends = new Map<string, () => void>();
    const tasks = objects.map((object) =>
      wholes.use(wholes.slim(object), async () => {
        running.push(object.metadata.name);
        most = Math.max(most, running.length);
        await new Promise<void>((resolve) => ends.set(object.metadata.name, resolve));
        running.splice(running.indexOf(object.metadata.name), 1);
      }),
    );
    await clock.advance(0);
    expect(running).toContain('b1');
    expect(running.filter((name) => name.startsWith('a')).length).toBeLessThan(5);
    for (let ended = 0; ended < objects.length; ) {
      for (const [name, end] of ends) {
        ends.delete(name);
        ended += 1;
        end();
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(tasks);
    expect(most).toBeLessThanOrEqual(3);
  });

  /** The attacker may start executions with inputs of 1 MiB, of which the API server handles each in whole at each write. */
  it.each([
    { shape: 'numbers', item: 0, count: 524_288, mostOfOne: 1 },
    { shape: 'a list of 5 MiB of heap', item: 0, count: 131_000, mostOfOne: 1 },
    { shape: 'a list of 3 MiB of heap', item: 0, count: 78_000, mostOfOne: 2 },
  ])(
    'with $shape are $mostOfOne of one namespace at a time, and one of another besides',
    async ({ item, count, mostOfOne }) => {
      const input = { list: Array.from({ length: count }, () => item) };
      const dear = (name: string): WorkflowExecution => {
        const execution = made(name);
        return {
          ...execution,
          metadata: { ...execution.metadata, namespace: name.slice(0, 1) },
          spec: { ...execution.spec, input },
        };
      };
      const { clock, wholes } = server([]);
      const running: string[] = [];
      const ends: (() => void)[] = [];
      const use = (object: WorkflowExecution) =>
        wholes.use(wholes.slim(object), async () => {
          running.push(object.metadata.name);
          await new Promise<void>((resolve) => ends.push(resolve));
        });
      const tasks = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map((name) => use(dear(name)));
      const light = ['c1', 'a6'].map((name) =>
        use({ ...made(name), metadata: { ...made(name).metadata, namespace: 'a' } }),
      );
      await clock.advance(0);
      expect(running).toEqual(expect.arrayContaining(['b1', 'c1', 'a6']));
      expect(running.filter((name) => /^a[1-5]/.test(name))).toHaveLength(mostOfOne);
      while (running.length < tasks.length + light.length || ends.length > 0) {
        for (const end of ends.splice(0)) end();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all([...tasks, ...light]);
    },
  );

  it('that never ends holds up a large object of another tenant for five seconds, and no caller for ever', async () => {
    const heavy = (name: string, namespace: string): WorkflowExecution => {
      const built = made(name, { text: 'x'.repeat(24 * 1024 * 1024) });
      return { ...built, metadata: { ...built.metadata, namespace } };
    };
    const objects = [heavy('stuck', 'a'), heavy('late', 'a'), heavy('big', 'b')];
    const small = made('small', { text: 'x'.repeat(512 * 1024) });
    const { clock, wholes } = server([...objects, small]);
    const order: string[] = [];
    const use = (object: WorkflowExecution, task: () => Promise<void>) =>
      wholes
        .use(wholes.slim(object), async () => {
          order.push(object.metadata.name);
          await task();
        })
        .catch((error: { reason: string }) => void order.push(`${object.metadata.name}: ${error.reason}`));
    const [stuck, late, big] = objects as [WorkflowExecution, WorkflowExecution, WorkflowExecution];
    void use(stuck, () => new Promise(() => undefined));
    void use(late, () => new Promise(() => undefined));
    void use(big, async () => undefined);
    const served = use(small, async () => undefined);
    await clock.advance(longestWaitMs);
    await served;
    expect(order).toContain('stuck');
    expect(order).toContain('small');
    expect(clock.sleepers).toBe(0);
  });

  it('of small objects never wait', async () => {
    const objects = Array.from({ length: 500 }, (_, index) => made(`s${index}`));
    const { clock, wholes } = server(objects);
    let running = 0;
    const ends: (() => void)[] = [];
    const tasks = objects.map((object) =>
      wholes.use(wholes.slim(object), async () => {
        running += 1;
        await new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await clock.advance(0);
    expect(running).toBe(500);
    for (const end of ends) end();
    await Promise.all(tasks);
  });
});
