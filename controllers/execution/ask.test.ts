import { describe, expect, it } from 'vitest';
import { annotations, captureFinalizer, labels } from '../../crds/labels.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { KubeError, type KubeObject, type Pod } from '../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { World } from '../../test/builders/world.ts';
import type { Facts, Made } from './engine/facts.ts';
import { nameBeside, volumeName } from './engine/names.ts';
import { learn } from './learn.ts';
import { podFact } from './observe.ts';

const world = new World(aWorkflow('w').state('s', anEnd()).build());
const { uid = '', name: parentName } = world.execution.metadata;
const slot = { state: 's', visit: 1, attempt: 1 };
const begunAt = Date.parse('2026-01-01T00:00:01Z');

interface PodFields {
  readonly uid: string;
  readonly phase: 'Pending' | 'Running';
  readonly owner?: string;
}

const aPod = ({ uid: own, phase, owner = uid }: PodFields): Pod => ({
  metadata: {
    name: 'p',
    namespace: 'default',
    uid: own,
    resourceVersion: phase === 'Running' ? '7' : '3',
    labels: {
      [labels.executionUid]: owner,
      [labels.state]: slot.state,
      [labels.visit]: '1',
      [labels.attempt]: '1',
    },
    annotations: { [annotations.state]: slot.state },
    finalizers: [captureFinalizer],
  },
  spec: { containers: [] },
  status: {
    phase,
    ...(phase === 'Running' && {
      containerStatuses: [{ name: 'step', state: { running: { startedAt: '2026-01-01T00:00:01Z' } } }],
    }),
  } as never,
});

const by = { state: 's', visit: 1 };
interface Visited extends KubeObject {
  readonly spec: object;
  readonly status: object;
}

const anObject = (kind: string, name: string, parent: object, status: object = {}): Visited => ({
  apiVersion: 'windlass.dev/v1',
  kind,
  metadata: { name, namespace: 'default', uid: `uid of ${name}`, resourceVersion: '7' },
  spec: { parent: { name: parentName, uid, ...parent }, tool: 't' },
  status,
});

/** A server with these objects, and caches of version 5 with these pods. */
function there(onServer: readonly KubeObject[], cached: readonly Pod[] = []) {
  const asked: string[] = [];
  const none = () => [];
  const caches = {
    pods: createCache<Pod>(),
    executions: createCache<KubeObject, 'parentUid'>({ indexes: { parentUid: none } }),
    agents: createCache<KubeObject, 'parentUid'>({ indexes: { parentUid: none } }),
    toolCalls: createCache<KubeObject, 'parentUid'>({ indexes: { parentUid: none } }),
    volumes: createCache<KubeObject>(),
  };
  for (const cache of Object.values(caches)) cache.replaceAll([], '5');
  caches.pods.replaceAll(cached, '5');
  const kube = {
    get: async (_resource: unknown, { name }: { readonly name: string }) => {
      asked.push(name);
      const found = onServer.find(({ metadata }) => metadata.name === name);
      if (found !== undefined) return found;
      throw new KubeError(404, { reason: 'NotFound' } as never, { verb: 'get', resource: 'x' });
    },
    list: async () => ({ metadata: {}, items: onServer.map(({ metadata }) => ({ metadata })) }),
    listAll: async () => ({ metadata: {}, items: onServer.map(({ metadata }) => ({ metadata })) }),
  };
  const waits: string[] = [];
  const onWaiting = (key: string, awaited: string) => void waits.push(`${key} ${awaited}`);
  const deps = { caches, kube, onWaiting, clock: { now: () => 0 }, observe: { outcomeOf: () => undefined } };
  const factsAfter = (facts: Facts, ...made: readonly Made[]) =>
    learn(
      deps as never,
      facts,
      made.map((one) => ({ kind: 'made', made: one }) as const),
    );
  return { factsAfter, caches, asked, waits };
}

describe('a pod on which a verdict rests', () => {
  const pending = aPod({ uid: 'u', phase: 'Pending' });
  const shown = world.facts({ pods: podFact({ outcomeOf: () => undefined }, pending, 0) });
  const hidden = world.facts({ pods: [] });

  it.each([
    ['runs on the server', aPod({ uid: 'u', phase: 'Running' }), begunAt],
    ['waits there as well', pending, undefined],
    ["is another owner's there", aPod({ uid: 'v', phase: 'Running', owner: 'other' }), undefined],
    ['is gone there', undefined, undefined],
  ])('is read once: it %s', async (_title, onServer, want) => {
    const { factsAfter, asked } = there(onServer === undefined ? [] : [onServer], [pending]);
    const { pods, asked: known } = await factsAfter(shown, { of: 'pod', name: 'p' });
    expect(pods).toMatchObject([{ slot, uid: 'u' }]);
    expect(pods[0]?.begunAt).toBe(want);
    expect([asked, known?.has('pod p')]).toEqual([['p'], true]);
  });

  it('D8 is found where no watch has shown it, and the cache has it from then on', async () => {
    const { factsAfter, caches } = there([aPod({ uid: 'u', phase: 'Running' })]);
    expect((await factsAfter(hidden, { of: 'pod', name: 'p' })).pods).toMatchObject([{ slot, uid: 'u', begunAt }]);
    expect(caches.pods.get('default/p')?.metadata.uid).toBe('u');
  });

  it('is no verdict where the server does not answer', async () => {
    const away = new KubeError(503, {} as never, { verb: 'get', resource: 'pods' });
    const deps = { kube: { get: () => Promise.reject(away) }, clock: { now: () => 0 } };
    const need = { kind: 'made', made: { of: 'pod', name: 'p' } } as const;
    await expect(learn(deps as never, shown, [need])).rejects.toBe(away);
  });
});

describe('an object of a visit on which a verdict rests', () => {
  const empty = world.facts();
  const kinds = [
    { of: 'child', kind: 'WorkflowExecution', facts: 'children', cache: 'executions' },
    { of: 'agent', kind: 'AgentExecution', facts: 'agents', cache: 'agents' },
    { of: 'tool_call', kind: 'ToolCall', facts: 'toolCalls', cache: 'toolCalls' },
  ] as const;

  it.each(kinds)('D8 is found where no watch has shown it: $kind', async ({ of, kind, facts, cache }) => {
    const { factsAfter, caches } = there([anObject(kind, 'x', by, { phase: 'running' })]);
    const known = await factsAfter(empty, { of, name: 'x', by });
    expect(known[facts]).toMatchObject([{ name: 'x', madeBy: by, phase: 'running' }]);
    expect(caches[cache].get('default/x')).toBeDefined();
  });

  it.each(kinds)('D8 C6 is found beside a name that another owner has: $kind', async ({ of, kind, facts }) => {
    const beside = nameBeside('x', 'random');
    const onServer = [anObject(kind, 'x', { uid: 'other', ...by }), anObject(kind, beside, by)];
    const known = await there(onServer).factsAfter(empty, { of, name: 'x', by });
    expect(known[facts]).toMatchObject([{ name: beside }]);
  });

  it.each([
    ['another execution', { uid: 'other', ...by }],
    ['another visit', { ...by, visit: 2 }],
    ['another state', { ...by, state: 't' }],
    ['another judge', { ...by, judge: 1 }],
  ])('is none of %s', async (_whose, parent) => {
    const { factsAfter } = there([anObject('AgentExecution', 'x', parent)]);
    expect((await factsAfter(empty, { of: 'agent', name: 'x', by })).agents).toEqual([]);
  });
});

describe('a volume on which a verdict rests', () => {
  const byName = volumeName(world.execution, 'workspace');
  const id = '7d444840-9dc0-11d1-b245-5ffdce74fad2';
  const shared_volumes = [{ name: 'old', volume_id: id }];
  const before = new World(
    aWorkflow('w')
      .state('s', anEnd())
      .with({ storage: { workspace: {}, shared_volumes } })
      .build(),
  ).facts();
  const aVolume = (name: string, phase: string, version: string): Visited => ({
    metadata: {
      name,
      namespace: 'default',
      uid: name === 'old' ? id : name,
      resourceVersion: version,
      labels: { [labels.executionUid]: uid },
    },
    spec: {},
    status: { phase, claim_name: 'c' },
  });
  const of = 'volume';

  it.each(['failed', 'expired', 'pending'])(
    'D8 is ready where it is ready on the server and shows as %s',
    async (phase) => {
      const { factsAfter, caches } = there([aVolume(byName, 'ready', '7'), aVolume('old', 'ready', '7')]);
      caches.volumes.replaceAll([aVolume(byName, phase, '3'), aVolume('old', phase, '3')], '5');
      const made = [byName, 'old'].map((name) => ({ of, name }) as const);
      const { volumes } = await factsAfter(before, ...made);
      expect(volumes).toMatchObject({ workspace: { volume: byName, phase: 'ready' }, old: { phase: 'ready' } });
    },
  );

  it.each(['failed', 'expired'])('is %s where it is so there', async (phase) => {
    const { volumes } = await there([aVolume('old', phase, '7')]).factsAfter(before, { of, name: 'old' });
    expect(volumes).toMatchObject({ old: { phase } });
  });

  it('D8 WF-STOR-09 is found by its uid where no watch has shown it, and its news wakes the execution', async () => {
    const { factsAfter, caches, waits } = there([aVolume('x', 'ready', '6'), aVolume('old', 'pending', '7')]);
    const { volumes, asked } = await factsAfter(before, { of: 'volume_of_uid', name: id });
    expect(volumes).toMatchObject({ old: { volume: 'old', phase: 'pending' } });
    expect([asked?.has(`volume_of_uid ${id}`), caches.volumes.getByUid('x')]).toEqual([true, undefined]);
    expect(waits).toEqual([`default/${parentName} default/old`]);
  });

  it('D8 WF-STATE-05 is ready where no workflow declares it and it shows as failed', async () => {
    const seen = { volume: 'old', phase: 'failed' } as const;
    const undeclared = { ...world.facts(), volumesByUid: new Map([[id, seen]]) };
    const { volumesByUid } = await there([aVolume('old', 'ready', '7')]).factsAfter(undeclared, { of, name: 'old' });
    expect(volumesByUid?.get(id)).toMatchObject({ volume: 'old', phase: 'ready' });
  });

  it('WF-STOR-09 is none where the server has none of its uid', async () => {
    const { volumes } = await there([aVolume('x', 'ready', '6')]).factsAfter(before, { of: 'volume_of_uid', name: id });
    expect(volumes).toEqual({});
  });
});
