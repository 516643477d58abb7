import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createCache } from '../../lib/informer/index.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createCatchUp } from './catch-up.ts';

function execution(name: string, resourceVersion: string): WorkflowExecution {
  const built = anExecution(name).build();
  return { ...built, metadata: { ...built.metadata, uid: `uid-${name}`, resourceVersion } };
}

/** A search over a cache while the server holds `server`; reading the server's list takes `listMs`. */
function setUp(server: WorkflowExecution[], { cached = [] as WorkflowExecution[], listMs = 0 } = {}) {
  const clock = createManualClock();
  const cache = createCache<WorkflowExecution>();
  cache.replaceAll(cached, '1');
  const calls: string[] = [];
  const kube = {
    async list(resource: { readonly metadataOnly?: boolean }) {
      calls.push(resource.metadataOnly ? 'list metadata' : 'list');
      const items = server.map(({ metadata }) => ({ metadata }));
      await clock.sleep(listMs);
      return { metadata: {}, items };
    },
    async get(_: unknown, { name }: { name: string }) {
      calls.push(`get ${name}`);
      const found = server.find(({ metadata }) => metadata.name === name);
      if (found === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
      return found;
    },
  };
  const catchUp = createCatchUp({ kube: kube as never, clock, cache, resource: workflowExecutions });
  const find = (name: string, tenant = 'default') =>
    catchUp.find({ namespace: 'default', tenant }, () => cache.get(`default/${name}`));
  return { clock, cache, calls, find, server };
}

describe('a search', () => {
  it('answers from the cache without asking the server', async () => {
    const { find, calls } = setUp([], { cached: [execution('a', '5')] });
    expect((await find('a'))?.metadata.name).toBe('a');
    expect(calls).toEqual([]);
  });

  it('leaves the watch a moment to bring what was just created', async () => {
    const { find, calls, cache, clock } = setUp([]);
    const found = find('a');
    cache.apply({ type: 'ADDED', object: execution('a', '5') });
    await clock.advance(50);
    expect((await found)?.metadata.name).toBe('a');
    expect(calls).toEqual([]);
  });

  it('finds what the watch has not brought, and reads only what the cache lacks or has older', async () => {
    const server = [execution('new', '9'), execution('changed', '8'), execution('same', '5')];
    const { find, calls, cache, clock } = setUp(server, {
      cached: [execution('changed', '4'), execution('same', '5')],
    });
    const found = find('new');
    await clock.advance(50);
    expect((await found)?.metadata.name).toBe('new');
    expect(calls).toEqual(['list metadata', 'get new', 'get changed']);
    expect(cache.get('default/changed')?.metadata.resourceVersion).toBe('8');
  });

  it.each([99, 100, 101, 450])(
    'finds an object behind %i younger ones, though the watch is behind all',
    async (count) => {
      const younger = Array.from({ length: count }, (_, index) => execution(`younger-${index}`, `${index + 10}`));
      const { find, clock } = setUp([execution('old', '9'), ...younger]);
      const found = find('old');
      await clock.advance(5_000);
      expect((await found)?.metadata.name).toBe('old');
    },
  );

  it('is refused rather than answered with "there is none" while the cache is too far behind', async () => {
    const server = Array.from({ length: 1_001 }, (_, index) => execution(`e-${index}`, `${index + 10}`));
    const { find, clock } = setUp(server);
    const answer = find('bogus').catch((error) => error);
    await clock.advance(10_000);
    expect(await answer).toMatchObject({ code: 'unavailable', reason: 'CacheBehind' });
    const again = find('bogus');
    await clock.advance(10_000);
    expect(await again).toBeUndefined();
  });

  it('of any number at the same time shares the reading of the server', async () => {
    const { find, calls, clock } = setUp([]);
    const found = Promise.all(Array.from({ length: 400 }, (_, index) => find(`bogus-${index}`)));
    await clock.advance(300);
    expect((await found).every((one) => one === undefined)).toBe(true);
    // The first to wake up begins one reading, all the others share the next.
    expect(calls).toEqual(['list metadata', 'list metadata']);
  });

  it('sees what was created before it began, though another reading is under way', async () => {
    const { find, server, clock, calls } = setUp([], { listMs: 100 });
    const first = find('late');
    await clock.advance(60);
    expect(calls).toHaveLength(1);
    server.push(execution('late', '7'));
    const second = find('late');
    await clock.advance(2_000);
    expect([(await first) === undefined, (await second)?.metadata.name]).toEqual([true, 'late']);
    expect(calls.filter((call) => call === 'list metadata')).toHaveLength(2);
  });

  it.each([
    [10, 250],
    [40, 400],
    [100, 500],
    [1_000, 500],
  ])(
    'after a reading of %i ms waits %i ms for the next, so that a flood leaves the server time',
    async (listMs, pause) => {
      const { find, calls, clock } = setUp([], { listMs });
      void find('bogus-1');
      await clock.advance(50 + listMs);
      void find('bogus-2');
      await clock.advance(pause - 1);
      expect(calls).toEqual(['list metadata']);
      await clock.advance(1);
      expect(calls).toEqual(['list metadata', 'list metadata']);
    },
  );

  it("is refused where five hundred of the tenant are under way, and another tenant's is not", async () => {
    const { find, clock } = setUp([]);
    const searches = Array.from({ length: 501 }, (_, index) => find(`bogus-${index}`).catch((error) => error));
    const other = find('bogus', 'other');
    await clock.advance(1_000);
    const answers = await Promise.all(searches);
    expect(await other).toBeUndefined();
    expect(answers.slice(0, 500).every((answer) => answer === undefined)).toBe(true);
    expect(answers[500]).toMatchObject({ code: 'unavailable' });
    const again = find('bogus');
    await clock.advance(1_000);
    expect(await again).toBeUndefined();
  });

  it('says that the server cannot be asked, rather than that nothing is there', async () => {
    const { clock, cache } = setUp([]);
    const away = new KubeError(503, {}, { verb: 'list', resource: 'x' });
    const kube = { list: () => Promise.reject(away), get: () => Promise.reject(away) };
    const catchUp = createCatchUp({ kube: kube as never, clock, cache, resource: workflowExecutions });
    const answer = catchUp.find({ namespace: 'default', tenant: 'default' }, () => undefined).catch((error) => error);
    await clock.advance(50);
    expect(await answer).toBe(away);
    const next = catchUp.find({ namespace: 'default', tenant: 'default' }, () => undefined).catch((error) => error);
    await clock.advance(1_000);
    expect(await next).toBe(away);
  });
});
