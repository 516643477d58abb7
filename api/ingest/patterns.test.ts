import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { systemClock } from '../../lib/clock.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { stimulusClassified } from '../../lib/stimulus/stimulus-events.ts';
import { storedEvents } from '../../test/nats/stored-events.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { followPatterns, type Pattern, patternBucket, patternKey, withChoice } from './patterns.ts';

const choice = (workflowId: string, sequence: number) => ({ stimulusId: 's', source: 'x', workflowId, sequence });

describe('a pattern', () => {
  it.each<[string, Pattern | undefined, ReturnType<typeof choice>, number | undefined]>([
    ['begins with one choice', undefined, choice('a', 5), 1],
    ['grows with an equal one', { workflow_id: 'a', count: 3, counted: [4] }, choice('a', 5), 4],
    ['begins anew with another one', { workflow_id: 'a', count: 3, counted: [4] }, choice('b', 5), 1],
    ['does not count a choice twice', { workflow_id: 'a', count: 3, counted: [5, 6] }, choice('a', 5), undefined],
  ])('ROUTE-23 %s', (_what, known, next, want) => expect(withChoice(known, next)?.count).toBe(want));
});

let nats: TestBus;
beforeAll(async () => {
  nats = await startTestBus();
  // The consumer that all replicas share begins with what comes after it was made.
  const { choose, pattern } = await scene({ router_agent: 'first' });
  await vi.waitFor(async () => {
    await choose('first', 1);
    if ((await pattern()) === undefined) throw new Error('not counted yet');
  }, soon);
  await Promise.all(ends.splice(0).map((end) => end()));
}, 120_000);
afterAll(() => nats.stop());

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

/** A bound for a machine that is busy: each wait ends with its condition. */
const soon = { timeout: 100_000, interval: 50 };

let scenes = 0;

/** Two replicas follow the choices for a tenant of its own, whose router is as `spec` says. */
async function scene(spec: StimulusRouter['spec'], refusal?: Error) {
  const tenant = `t${(scenes += 1)}`;
  const patches: unknown[] = [];
  const logged: string[] = [];
  const router = { metadata: { name: 'r', namespace: tenant, resourceVersion: '7' }, spec } as StimulusRouter;
  const publisher = await nats.connected();
  for (let replica = 0; replica < 2; replica += 1) {
    const subscription = followPatterns({
      bus: nats.connect(),
      clock: systemClock,
      kube: {
        mergePatch: async (_kind: unknown, _ref: unknown, patch: object) => {
          patches.push(patch);
          if (refusal !== undefined) throw refusal;
          return {} as never;
        },
      },
      logger: { ...silentLogger, info: (_fields: object, message: string) => void logged.push(message) } as never,
      tenants: { namespaceOf: () => tenant },
      routers: { byIndex: (_name: string, namespace: string) => (namespace === tenant ? [router] : []) } as never,
    });
    ends.push(() => subscription.close(100));
  }
  let sentCount = 0;
  const bucket = publisher.bucket<Pattern>(patternBucket);
  return {
    patches,
    pattern: async () => (await bucket.get(patternKey(tenant, 'tickets')))?.value,
    logged,
    choose: async (workflow: string, times: number, mode: 'LlmClassified' | 'Deterministic' = 'LlmClassified') => {
      for (let index = 0; index < times; index += 1) {
        sentCount += 1;
        const occasion = { stimulusId: `${tenant}-${sentCount}`, tenant, time: new Date().toISOString() };
        await publisher.publish(stimulusClassified(occasion, workflow, { confidence: 0.9, mode, source: 'tickets' }));
      }
    },
    found: async () =>
      (await storedEvents(nats.server, tenant, 'stimulus')).filter(({ type }) => type === 'PatternDiscovered'),
  };
}

describe('what two replicas learn of router agents', { timeout: 120_000 }, () => {
  it('ROUTE-23 ORCH-EVT-04 is published and logged once, after 20 equal choices in a row and not before', async () => {
    const { choose, found, logged, patches, pattern } = await scene({ router_agent: 'triage' });
    const counted = (workflow_id: string, count: number) =>
      vi.waitFor(async () => expect(await pattern()).toMatchObject({ workflow_id, count }), soon);
    await choose('a', 19);
    await counted('a', 19);
    await choose('b', 1);
    await counted('b', 1);
    await choose('a', 19);
    await counted('a', 19);
    expect(await found()).toEqual([]);
    await choose('a', 5, 'Deterministic');
    await choose('a', 1);
    await vi.waitFor(async () => expect(await found()).toHaveLength(1), soon);
    expect((await found())[0]?.data).toEqual({ source: 'tickets', workflow_id: 'a', count: 20, promoted: false });
    expect((await found())[0]?.id).toContain('-45');
    expect(logged).toEqual(['PatternDiscovered']);
    expect(patches).toEqual([]);
  });

  it('ROUTE-23 becomes a route where the router asks for it', async () => {
    const { choose, found, patches } = await scene({ router_agent: 'triage', promote_after: 3 });
    await choose('a', 3);
    await vi.waitFor(async () => expect(await found()).toHaveLength(1), soon);
    expect((await found())[0]?.data).toMatchObject({ count: 3, promoted: true });
    expect(patches).toEqual([{ metadata: { resourceVersion: '7' }, spec: { routes: { tickets: 'a' } } }]);
  });

  it('ROUTE-23 takes the place of no route that a person has written', async () => {
    const { choose, found, patches } = await scene({
      router_agent: 'x',
      promote_after: 2,
      routes: { tickets: 'mine' },
    });
    await choose('a', 2);
    await vi.waitFor(async () => expect(await found()).toHaveLength(1), soon);
    expect((await found())[0]?.data).toMatchObject({ promoted: false });
    expect(patches).toEqual([]);
  });

  it('ROUTE-23 stays a pattern where the router has no room for another route', async () => {
    const full = new KubeError(422, { reason: 'Invalid' }, { verb: 'patch', resource: 'stimulusrouters' });
    const { choose, found } = await scene({ router_agent: 'x', promote_after: 2 }, full);
    await choose('a', 2);
    await vi.waitFor(async () => expect(await found()).toHaveLength(1), soon);
    expect((await found())[0]?.data).toMatchObject({ promoted: false });
  });
});
