import { describe, expect, it } from 'vitest';
import { captureFinalizer, labels } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { stripStrangers } from '../../lib/informer/slim-metadata.ts';
import { KubeError, type KubeObject, type Pod } from '../../lib/kube/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createQuotaGate } from '../step-pods/quota-gate.ts';
import type { PodSettings } from '../step-pods/template.ts';
import { type ApplyDeps, apply } from './apply.ts';
import type { Action } from './engine/decision.ts';
import { podName } from './engine/names.ts';
import { takenUid } from './linked.ts';

const execution = anExecution('demo-1').build();
const { namespace = '', uid = '' } = execution.metadata;

const kubeError = (status: number, message = 'why', reason = status === 404 ? 'NotFound' : ''): KubeError =>
  new KubeError(status, { message, reason } as never, { verb: 'x', resource: 'y' });
const exists = kubeError(409, 'why', 'AlreadyExists');

const podSettings: PodSettings = {
  runnerImage: 'runner',
  systemImage: 'busybox',
  imageVolumes: true,
  runAsUser: 65_532,
  nodeLostSeconds: 60,
  workdirSize: '4Gi',
  alwaysPull: false,
  defaultResources: {},
};

/** Requests to the API server, in order, of a client that answers every call of one method with an error. */
function setUp(
  errors: Partial<Record<keyof ApplyDeps['kube'], Error>> = {},
  pods: readonly Pod[] = [],
  there: readonly KubeObject[] = [],
) {
  const calls: { method: string; name: string | undefined; body: unknown }[] = [];
  const answer = async (method: keyof ApplyDeps['kube'], name: string | undefined, body: unknown) => {
    calls.push({ method, name, body });
    const error = errors[method];
    if (error !== undefined) throw error;
    if (method === 'create' && there.some(({ metadata }) => metadata.name === name)) throw exists;
    return { metadata: { name, namespace, uid: 'new', resourceVersion: '50' } };
  };
  const kube = {
    get: async (_: unknown, { name }: { name: string }) => {
      const found = there.find(({ metadata }) => metadata.name === name);
      if (found === undefined) throw kubeError(404, 'gone', 'NotFound');
      return found;
    },
    listAll: async (resource: { readonly metadataOnly?: boolean }) => {
      if (resource.metadataOnly !== true) throw new Error('children are of any size');
      const found = there.filter(({ metadata }) => metadata.labels?.[labels.parentUid] === uid);
      return { metadata: {}, items: found.map(({ metadata }) => ({ metadata })) };
    },
    create: (_: unknown, object: { metadata: { name?: string } }) => answer('create', object.metadata.name, object),
    delete: (_: unknown, ref: { name: string }, options: unknown) => answer('delete', ref.name, options),
    jsonPatch: (_: unknown, ref: { name: string }, patch: unknown) => answer('jsonPatch', ref.name, patch),
  };
  const caches = {
    pods: createCache<Pod>(),
    executions: createCache<WorkflowExecution>(),
    volumes: createCache<Volume>(),
    agents: createCache<AgentExecution>(),
    toolCalls: createCache<ToolCall>(),
  };
  caches.pods.replaceAll(pods, '20');
  const rejected: unknown[] = [];
  const released: string[] = [];
  const followed: string[] = [];
  const made: unknown[] = [];
  const deps: ApplyDeps = {
    kube: kube as never,
    ...caches,
    podSettings,
    quota: createQuotaGate(createManualClock(), () => undefined),
    onRejected: (_execution, name, _action, failure) => rejected.push({ name, ...failure }),
    archives: { begin: () => undefined, unarchived: () => undefined },
    onFollow: ({ metadata }, source) => followed.push(`${metadata.name} ${source}`),
    onReleased: (pod) => released.push(pod),
    onChildMade: (...child) => made.push(child),
    onLinkedMade: (...link) => made.push(link),
    identity: 'controllers',
    now: () => 0,
    newId: () => '0123456789abcdef',
  };
  const carryOut = async (actions: readonly Action[], mayBeDone: boolean): Promise<void> => {
    const [failed] = await apply(deps, execution, { actions, mayBeDone });
    if (failed !== undefined) throw failed.error;
  };
  const run = (...actions: Action[]) => carryOut(actions, false);
  const runAgain = (...actions: Action[]) => carryOut(actions, true);
  return { run, runAgain, calls, rejected, released, followed, made, caches };
}

const plan = {
  imagePullPolicy: 'IfNotPresent',
  argv: ['true'],
  env: {},
  workdir: '/workspace',
  mounts: [],
  timeoutMs: 1_000,
} as const;
const createPod: Action = { kind: 'create_pod', slot: { state: 's', visit: 1, attempt: 1 }, plan };
const createChild: Action = { kind: 'create_child', name: 'c', spec: { workflow: 'w' }, owned: true };
const createAgent: Extract<Action, { kind: 'create_agent' }> = {
  kind: 'create_agent',
  name: 'a',
  spec: { agent: 'writer', parent: { name: 'demo-1', uid, state: 's', visit: 1, judge: 0 } },
};
const createVolume: Action = {
  kind: 'create_volume',
  name: 'v',
  declared: 'v',
  spec: { storage_class: 'ephemeral' },
  owned: true,
};
const stimulusId = '5f1c3d1e-5c0f-8d3a-9a55-0c7f3a2f9d41';
const createLinked: Extract<Action, { kind: 'create_linked' }> = {
  kind: 'create_linked',
  plan: {
    name: `stimulus-${stimulusId}`,
    namespace,
    workflow: { reference: 'w', object: 'w', uid: 'wu', version: '1.0.0' },
    spec: { input: {} },
    labels: { [labels.stimulus]: stimulusId },
  },
};
const cancelChild: Action = { kind: 'cancel_child', name: 'c', uid: 'cu', reason: 'r' };
const stopPod: Action = { kind: 'stop_pod', name: 'p', uid: 'pu' };
const releasePod: Action = { kind: 'release_pod', name: 'p', uid: 'pu' };
const deleteExecution: Action = { kind: 'delete_execution' };

const aPod = (finalizers: readonly string[]): Pod => ({
  metadata: { name: 'p', namespace, uid: 'pu', resourceVersion: '10', finalizers: [...finalizers] },
  spec: { containers: [] },
});

describe('what is made', () => {
  it.each([
    { action: createPod, cache: 'pods' },
    { action: createChild, cache: 'executions' },
    { action: createAgent, cache: 'agents' },
    { action: createVolume, cache: 'volumes' },
    { action: createLinked, cache: 'executions' },
  ] as const)('$action.kind: the answer is in the cache before the watch brings it', async ({ action, cache }) => {
    const { run, caches } = setUp();
    await run(action);
    expect(caches[cache].getByUid('new')).toBeDefined();
  });

  it.each([createPod, createChild, createAgent, createVolume])(
    '$kind: what exists already counts as made',
    async (action) => {
      await expect(setUp({ create: exists }).run(action)).resolves.toBeUndefined();
    },
  );

  const ours = { labels: { [labels.executionUid]: uid }, namespace, uid: 'there', resourceVersion: '50' };
  const parent = { name: 'demo-1', uid, state: 's', visit: 1, depth: 1 };
  const childOf = (spec: object, name: string) => ({
    metadata: { name, namespace, uid: 'there', resourceVersion: '5', labels: { [labels.parentUid]: uid } },
    spec,
  });
  const child: Action = { ...createChild, spec: { workflow: 'w', parent } };
  const podOf = podName(execution, { state: 's', visit: 1, attempt: 1 });

  it.each<[Action, 'pods' | 'executions' | 'volumes' | 'agents', KubeObject]>([
    [createPod, 'pods', { metadata: { ...ours, name: podOf } }],
    [createVolume, 'volumes', { metadata: { ...ours, name: 'v' } }],
    [child, 'executions', childOf({ parent }, 'c')],
    [createAgent, 'agents', childOf(createAgent.spec, 'a')],
  ])('$kind: what we made before is taken up from the server', async (action, cache, object) => {
    const { run, caches, calls, rejected } = setUp({}, [], [object]);
    await run(action);
    expect(caches[cache].getByUid('there')).toBeDefined();
    expect([calls.length, rejected]).toEqual([1, []]);
  });

  it.each<[Action, 'pods' | 'executions' | 'volumes', KubeObject]>([
    [createPod, 'pods', { metadata: { ...ours, name: podOf } }],
    [createVolume, 'volumes', { metadata: { ...ours, name: 'v' } }],
    [child, 'executions', childOf({ parent }, 'c')],
  ])(
    'D8 $kind: what may have been made before is not asked for again, which would charge a quota twice',
    async (action, cache, object) => {
      const { runAgain, caches, calls } = setUp({}, [], [object]);
      await runAgain(action);
      expect(caches[cache].getByUid('there')).toBeDefined();
      expect(calls).toEqual([]);
    },
  );

  it.each([createPod, createChild, createAgent, createVolume])(
    '$kind: what may have been made before, and was not, is made',
    async (action) => {
      const { runAgain, calls } = setUp();
      await runAgain(action);
      expect(calls.map(({ method }) => method)).toEqual(['create']);
    },
  );

  const linkedAs = (stimulus: string): KubeObject => ({
    metadata: { name: createLinked.plan.name, namespace, uid: 'there', labels: { [labels.stimulus]: stimulus } },
  });

  it.each([
    { what: 'what another replica started', stimulus: stimulusId, known: 'there' },
    { what: 'an execution of another owner', stimulus: 'x', known: takenUid },
  ])('AMB-189 create_linked: under its name there is $what', async ({ stimulus, known }) => {
    const { run, made, calls } = setUp({}, [], [linkedAs(stimulus)]);
    await run(createLinked);
    expect(made).toEqual([[uid, createLinked.plan.name, known]]);
    expect(calls).toHaveLength(1);
  });

  it.each([
    { what: 'there', uid: 'u1', want: ['p log'] },
    { what: 'another one by now', uid: 'u2', want: [] },
  ])('a pod that is $what is followed: $want', async ({ uid: known, want }) => {
    const there = { metadata: { name: 'p', namespace, uid: known }, spec: { containers: [] } };
    const { run, calls, followed } = setUp({}, [there]);
    await run({ kind: 'follow_pod', name: 'p', uid: 'u1', source: 'log' });
    expect({ calls, followed }).toEqual({ calls: [], followed: want });
  });

  it('a pod that a colleague made in advance under its name is not taken for the step', async () => {
    const { run, caches, rejected } = setUp({}, [], [{ metadata: { name: podOf, namespace, uid: 'evil' } }]);
    await run(createPod);
    expect(caches.pods.getByUid('evil')).toBeUndefined();
    expect(rejected).toMatchObject([{ reason: 'PodRejected', message: expect.stringContaining('is in the way') }]);
  });

  it('a volume that a colleague made in advance under its name is not taken for its own', async () => {
    const { run, caches } = setUp({}, [], [{ metadata: { name: 'v', namespace, uid: 'evil' } }]);
    await run(createVolume);
    expect(caches.volumes.getByUid('evil')).toBeUndefined();
  });

  const foreign = { metadata: { name: 'c', namespace, uid: 'evil' }, spec: { workflow: 'evil' } };
  it('a child whose name a colleague took in advance gets a name that no user could foresee', async () => {
    const { run, calls, caches } = setUp({}, [], [foreign]);
    await run(child);
    expect(calls.map(({ name }) => name)).toEqual(['c', 'c-0123456789']);
    expect(caches.executions.getByUid('evil')).toBeUndefined();
  });

  it('and is not made twice, although the watch has not brought it', async () => {
    const { run, calls, caches } = setUp({}, [], [foreign, childOf({ parent }, 'c-9876543210')]);
    await run(child);
    expect(calls.map(({ name }) => name)).toEqual(['c']);
    expect(caches.executions.getByUid('there')).toBeDefined();
  });

  it('an agent is owned by its execution, and carries its label', async () => {
    const { run, calls, made } = setUp();
    await run(createAgent);
    expect(calls[0]?.body).toMatchObject({
      kind: 'AgentExecution',
      metadata: {
        name: 'a',
        namespace,
        labels: { [labels.parentUid]: uid },
        ownerReferences: [{ kind: 'WorkflowExecution', uid, controller: true }],
      },
      spec: createAgent.spec,
    });
    expect(made).toEqual([[uid, 'a', 'new']]);
  });

  it.each([{ state: 't' }, { visit: 2 }, { uid: 'x' }, { judge: 1 }, { judge: undefined }])(
    'an agent of %j is another one',
    async (other) => {
      const there = childOf({ agent: 'writer', parent: { ...createAgent.spec.parent, ...other } }, 'a');
      const { run, calls } = setUp({}, [], [there]);
      await run(createAgent);
      expect(calls.map(({ name }) => name)).toEqual(['a', 'a-0123456789']);
    },
  );

  it('an agent is cancelled under its uid, and what came of it is known at once', async () => {
    const { run, calls, caches } = setUp();
    await run({ kind: 'cancel_agent', name: 'a', uid: 'au', reason: 'late' });
    expect(calls).toMatchObject([
      {
        method: 'jsonPatch',
        name: 'a',
        body: [
          { op: 'test', path: '/metadata/uid', value: 'au' },
          { op: 'add', path: '/spec/cancel', value: { by: 'controllers', reason: 'late' } },
        ],
      },
    ]);
    expect(caches.agents.getByUid('new')).toBeDefined();
  });

  it.each([{ state: 't' }, { visit: 2 }, { uid: 'x' }])('a child of %j is another one', async (other) => {
    const { run, calls } = setUp({}, [], [childOf({ parent: { ...parent, ...other } }, 'c')]);
    await run(child);
    expect(calls.map(({ name }) => name)).toEqual(['c', 'c-0123456789']);
  });

  it.each([
    { action: createChild, owned: true },
    { action: { ...createChild, owned: false }, owned: false },
    { action: createVolume, owned: true },
    { action: { ...createVolume, owned: false }, owned: false },
  ])('$action.kind: is deleted with the execution where it is owned: $owned', async ({ action, owned }) => {
    const { run, calls } = setUp();
    await run(action);
    expect(calls).toMatchObject([
      { body: { metadata: owned ? { ownerReferences: [{ kind: 'WorkflowExecution', uid }] } : {} } },
    ]);
    expect(JSON.stringify(calls).includes('ownerReferences')).toBe(owned);
  });

  it.each([
    { status: 422, message: 'bad', rejected: true },
    { status: 403, message: 'violates PodSecurity "restricted"', rejected: true },
    { status: 403, message: 'failed quota: q: must specify limits.memory for: step', rejected: true },
    { status: 403, message: 'maximum memory usage per Container is 64Mi, but limit is 128Mi', rejected: true },
    { status: 403, message: 'minimum cpu usage per Pod is 1.  No request is specified', rejected: true },
    {
      status: 403,
      message: 'cpu max limit to request ratio per Container is 2, but provided ratio is 4',
      rejected: true,
    },
    { status: 403, message: 'exceeded quota: q', rejected: false },
    { status: 403, message: 'status unknown for quota: q', rejected: false },
    { status: 403, message: 'cannot create resource "pods"', rejected: false },
    { status: 404, message: 'namespace gone', rejected: false },
    { status: 500, message: 'oops', rejected: false },
  ])('a pod refused with $status "$message" will never be taken: $rejected', async ({ status, message, rejected }) => {
    const set = setUp({ create: kubeError(status, message) });
    const thrown: unknown = await set.run(createPod).catch((error: unknown) => error);
    expect(thrown instanceof KubeError ? thrown.status : 'taken').toBe(rejected ? 'taken' : status);
    const want = { reason: 'PodRejected', message: expect.stringContaining(message) };
    expect(set.rejected).toMatchObject(rejected ? [want] : []);
  });
});

describe('what is taken away', () => {
  it.each([
    { action: stopPod, error: 404 },
    { action: stopPod, error: 409 },
    { action: deleteExecution, error: 404 },
    { action: deleteExecution, error: 409 },
  ])('$action.kind: $error means that it is gone, or another one', async ({ action, error }) => {
    await expect(setUp({ delete: kubeError(error) }).run(action)).resolves.toBeUndefined();
  });

  it.each([stopPod, deleteExecution])('$kind: 500 is an error', async (action) => {
    await expect(setUp({ delete: kubeError(500) }).run(action)).rejects.toMatchObject({ status: 500 });
  });

  it('a pod and an execution are named by their uid, so that no later one of the same name is deleted', async () => {
    const { run, calls } = setUp();
    await run(stopPod, deleteExecution);
    expect(calls).toMatchObject([
      { method: 'delete', name: 'p', body: { uid: 'pu' } },
      { method: 'delete', name: 'demo-1', body: { uid, propagation: 'Background' } },
    ]);
  });
});

describe('a pod that is let go', () => {
  it.each([
    { stop: undefined, methods: ['jsonPatch'] },
    { stop: 'graceful', methods: ['delete', 'jsonPatch'] },
    { stop: 'force', methods: ['delete', 'jsonPatch'] },
  ] as const)('is stopped first where something of it runs: $stop', async ({ stop, methods }) => {
    const { run, calls, released } = setUp({}, [aPod(['other', captureFinalizer])]);
    await run({ ...releasePod, ...(stop === undefined ? {} : { stop }) });
    expect(calls.map(({ method }) => method)).toEqual(methods);
    expect(calls[0]?.body).toMatchObject(stop === 'force' ? { gracePeriodSeconds: 0 } : {});
    expect(released).toEqual(['pu']);
  });

  it('loses our finalizer alone, and only while it is the same pod', async () => {
    const { run, calls } = setUp({}, [aPod(['other', captureFinalizer])]);
    await run(releasePod);
    expect(calls[0]?.body).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'pu' },
      { op: 'test', path: '/metadata/finalizers/1', value: captureFinalizer },
      { op: 'remove', path: '/metadata/finalizers/1' },
    ]);
  });

  it.each([99, 100, 101])('loses it by its place in the whole object behind %i of others', async (before) => {
    const whole = aPod([...Array.from({ length: before }, (_, index) => `example.org/f${index}`), captureFinalizer]);
    const { run, calls } = setUp({}, [stripStrangers(whole)], [whole]);
    await run(releasePod);
    expect(calls[0]?.body).toMatchObject([
      {},
      { op: 'test', path: `/metadata/finalizers/${before}`, value: captureFinalizer },
      { op: 'remove', path: `/metadata/finalizers/${before}` },
    ]);
  });

  it('keeps its finalizer where stopping it failed', async () => {
    const { run, calls, released } = setUp({ delete: kubeError(500) }, [aPod([captureFinalizer])]);
    await expect(run({ ...releasePod, stop: 'graceful' })).rejects.toMatchObject({ status: 500 });
    expect({ methods: calls.map(({ method }) => method), released }).toEqual({ methods: ['delete'], released: [] });
  });

  it('was let go before where it has no finalizer', async () => {
    const { run, calls, released } = setUp({}, [aPod(['other'])]);
    await run(releasePod);
    expect({ calls, released }).toEqual({ calls: [], released: ['pu'] });
  });
});

describe('a child that is cancelled', () => {
  it('names who, when and why, and only while it is the same child', async () => {
    const { run, calls } = setUp();
    await run(cancelChild);
    const cancel = { by: 'controllers', at: '1970-01-01T00:00:00.000Z', reason: 'r' };
    const body = [
      { op: 'test', path: '/metadata/uid', value: 'cu' },
      { op: 'add', path: '/spec/cancel', value: cancel },
    ];
    expect(calls).toEqual([{ method: 'jsonPatch', name: 'c', body }]);
  });

  it.each([
    [404, 'not found'],
    [409, 'the object has been modified'],
    [422, 'the server rejected our request due to an error in our request'],
    [422, 'WorkflowExecution "c" is invalid: spec: Invalid value: cancel cannot be changed or taken back'],
    [422, 'AgentExecution "c" is invalid: spec: Invalid value: cancel: cannot be taken back'],
  ])('that answers %i is gone or was cancelled by another caller: %s', async (status, message) => {
    await expect(setUp({ jsonPatch: kubeError(status, message) }).run(cancelChild)).resolves.toBeUndefined();
  });

  it('that an admission policy denies is tried again', async () => {
    const denied = kubeError(422, 'admission webhook "w" denied the request: not on Fridays');
    await expect(setUp({ jsonPatch: denied }).run(cancelChild)).rejects.toBe(denied);
  });
});

it('one action that fails keeps none of the others from being done, and is reported', async () => {
  const { run, calls } = setUp({ create: kubeError(500) });
  await expect(run(createChild, stopPod, cancelChild)).rejects.toMatchObject({ status: 500 });
  expect(calls.map(({ method }) => method)).toEqual(['create', 'delete', 'jsonPatch']);
});
