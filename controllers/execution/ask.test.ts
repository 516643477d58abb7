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
    listAll: async () => ({ metadata: {}, items: onServer.map(({ metadata }) => ({ metadata })) }),
  };
  const deps = { caches, kube, clock: { now: () => 0 }, observe: { outcomeOf: () => undefined } };
  const factsAfter = (facts: Facts, ...made: readonly Made[]) =>
    learn(
      deps as never,
      facts,
      made.map((one) => ({ kind: 'made', made: one }) as const),
    );
  return { factsAfter, caches, asked };
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
  const spec = { ...aWorkflow('w').state('s', anEnd()).build().spec, storage: { workspace: {} } };
  const facts = world.facts();
  const { workflow } = facts;
  const definition = workflow.kind === 'found' ? { ...workflow.definition, spec } : undefined;

  it('D8 is ready where it is ready on the server', async () => {
    const name = volumeName(world.execution, 'workspace');
    const metadata = {
      name,
      namespace: 'default',
      uid: 'v',
      resourceVersion: '7',
      labels: { [labels.executionUid]: uid },
    };
    const volume = { kind: 'Volume', metadata, spec: {}, status: { phase: 'ready', claim_name: 'c' } };
    if (definition === undefined) throw new Error('the world has no definition');
    const before: Facts = { ...facts, workflow: { kind: 'found', definition } };
    const { volumes } = await there([volume as never]).factsAfter(before, { of: 'volume', name });
    expect(volumes).toMatchObject({ workspace: { volume: name, phase: 'ready' } });
  });
});
