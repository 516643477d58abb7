import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { annotations, apiVersion, captureFinalizer, labels } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { State } from '../../../crds/schema/state.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { configMaps, events, type ObjectRef, type Pod, pods } from '../../../lib/kube/index.ts';
import { createBlob } from '../../../lib/output-store/blob.ts';
import { blobName, createConfigMapStore } from '../../../lib/output-store/config-map-store.ts';
import { aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import { type Answer, createSend, type Send } from '../admission/api.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { giveEveryRight } from '../harness/bind-role.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { type UsedControllers, useControllers } from '../harness/used-controllers.ts';
import { waitForNone, waitForObject, waitForView } from '../harness/wait.ts';

/**
 * Mallory administers the namespace of a tenant: a role there gives her every verb on everything, subresources of pods
 * among them. A colleague's step runs there. She would have it end as she likes, or say why it does not begin.
 */
let world: UsedControllers;
let send: Send;

beforeAll(async () => {
  world = await useControllers('step-pods');
  send = await createSend(kubeconfigPath());
  await giveEveryRight(world.kube, world.namespace, 'mallory');
});
afterAll(() => world?.release());

const mergePatch = 'application/merge-patch+json';
const asMallory = (method: string, path: string, body?: object, contentType?: string): Promise<Answer> =>
  send(method, path, body, { as: 'mallory', rights: 'own', ...(contentType && { contentType }) });
const podPath = (name: string, part = ''): string => `/api/v1/namespaces/${world.namespace}/pods/${name}${part}`;

async function start(step: State): Promise<ObjectRef> {
  const ref = { namespace: world.namespace, name: `run-${randomUUID().slice(0, 8)}` };
  const workflow = aWorkflow(ref.name).state('step', step).build();
  await ensureWorkflow(world.kube, { ...workflow, metadata: ref });
  await startExecution(world.kube, ref, { workflow: ref.name });
  return ref;
}

const podOf = ({ namespace, name }: ObjectRef, is: (pod: Pod) => boolean): Promise<Pod> =>
  waitForView(world.kube, { resource: pods, namespace, labelSelector: `${labels.execution}=${name}` }, (view) =>
    [...view.values()].find(is),
  );
const isRunning = ({ status }: Pod): boolean => status?.phase === 'Running';

describe('Mallory and the pod of a step that runs', () => {
  let ref: ObjectRef;
  let pod: Pod;
  beforeAll(async () => {
    ref = await start(
      aScript('until [ -e /tmp/never ] || [ $((n+=1)) -gt 40 ]; do sleep 1; done; echo honest; exit 3'),
    );
    pod = await podOf(ref, isRunning);
  });

  const terminated = { exitCode: 0, reason: 'Completed', message: 'forged' };
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const debuggers = [{ name: 'debug', image: 'busybox', targetContainerName: 'step', securityContext }];
  const anotherOwner = { apiVersion, kind: 'WorkflowExecution', name: 'another', uid: randomUUID(), controller: true };
  const limited = [{ name: 'step', resources: { limits: { memory: '16Mi' } } }];
  it.each<[what: string, part: string, change: object]>([
    ['its phase', '/status', { status: { phase: 'Succeeded' } }],
    [
      'an exit code and a termination message',
      '/status',
      { status: { containerStatuses: [{ name: 'step', state: { terminated } }] } },
    ],
    [
      'a disruption',
      '/status',
      { status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'Forged' }] } },
    ],
    ['the execution that it belongs to', '/status', { metadata: { labels: { [labels.executionUid]: 'another' } } }],
    ['the state that it is of', '/status', { metadata: { annotations: { [annotations.state]: 'another' } } }],
    ['the image that runs', '', { spec: { containers: [{ name: 'step', image: 'docker.io/library/other:1' }] } }],
    ['its deadline', '', { spec: { activeDeadlineSeconds: 1 } }],
    ['no owner at all', '', { metadata: { ownerReferences: null } }],
    ['another owner', '', { metadata: { ownerReferences: [anotherOwner] } }],
    ['the finalizer that keeps its log', '', { metadata: { finalizers: null } }],
    ['its memory', '/resize', { spec: { containers: limited } }],
    ['a container of hers in it', '/ephemeralcontainers', { spec: { ephemeralContainers: debuggers } }],
  ])('she does not write %s', async (_what, part, change) => {
    // Only a merge patch sets a list of a pod's metadata; that of its containers wants the other kind.
    const type = 'metadata' in change || part === '/status' ? mergePatch : 'application/strategic-merge-patch+json';
    const { status, message } = await asMallory('PATCH', podPath(pod.metadata.name ?? '', part), change, type);
    expect([status, message]).toEqual([403, expect.stringContaining('step-pods.windlass.dev')]);
  });

  it.each<[field: 'finalizers' | 'labels' | 'annotations', most: number]>([
    ['finalizers', limits.finalizers],
    ['labels', limits.mapEntries],
    ['annotations', limits.mapEntries],
  ])('she fills its %s up to %i beside those of Windlass', async (field, most) => {
    const fill = (count: number): Promise<Answer> => {
      const keys = Array.from({ length: count }, (_, at) => `mallory.example/k${at}`);
      const map = Object.fromEntries(keys.map((key) => [key, '']));
      const filled = field === 'finalizers' ? [...keys, captureFinalizer] : map;
      const dryRun = `${podPath(pod.metadata.name ?? '')}?dryRun=All`;
      return asMallory('PATCH', dryRun, { metadata: { [field]: filled } }, mergePatch);
    };
    expect((await fill(most - 1)).message).toBe('');
    expect((await fill(most)).message).toBe('');
    const { status, message } = await fill(most + 1);
    expect([status, message]).toEqual([422, expect.stringContaining(`${field}: must have at most ${most} entries`)]);
  });

  it('she writes a label of her own, through the pod and through its status', async () => {
    for (const part of ['', '/status']) {
      const change = { metadata: { labels: { [`team${part.replace('/', '-')}`]: 'm' } } };
      expect((await asMallory('PATCH', podPath(pod.metadata.name ?? '', part), change, mergePatch)).status).toBe(200);
    }
  });

  it('she writes a long annotation that is free to all', async () => {
    const change = { metadata: { annotations: { [annotations.force]: 'x'.repeat(8_190) } } };
    expect((await asMallory('PATCH', podPath(pod.metadata.name ?? ''), change, mergePatch)).status).toBe(200);
  });

  it('and it ends as its command ends, for nodes and controllers write what they wrote before', async () => {
    const { status } = await waitUntilFinished(world.kube, ref);
    expect(status?.history).toHaveLength(1);
    expect(status?.history?.[0]).toMatchObject({ reason: 'ExitCode', message: 'exit code 3' });
    expect(JSON.stringify(status)).toContain('honest');
    await podOf(ref, ({ metadata }) => metadata.finalizers?.includes(captureFinalizer) !== true);
  });
});

describe('Mallory and a step that no node takes', () => {
  const cpu = 100_000;
  const bindingOf = (name: string, metadata: object): object => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, ...metadata },
    target: { apiVersion: 'v1', kind: 'Node', name: 'nowhere' },
  });

  it.each<[string, string, object]>([
    ['pods/binding', '/binding', { annotations: { [annotations.state]: 'another' } }],
    ['pods/binding', '/binding', { labels: { [labels.executionUid]: 'another' } }],
    ['bindings', '', { annotations: { [annotations.step]: 'another' } }],
  ])('%s gives it no mark', async (_title, part, metadata) => {
    const ref = await start(aScript('true', { resources: { cpu } }));
    const name = (await podOf(ref, () => true)).metadata.name ?? '';
    const path = part === '' ? `/api/v1/namespaces/${world.namespace}/bindings` : podPath(name, part);
    const { status, message } = await asMallory('POST', path, bindingOf(name, metadata));
    expect([status, message]).toEqual([403, expect.stringContaining('pod-bindings.windlass.dev')]);
    await world.kube.delete(workflowExecutions, ref);
  });
});

describe('Mallory and the stored outputs of a run', () => {
  it('she deletes none, changes none, and takes the name of none to come', async () => {
    const { kube, namespace } = world;
    const { metadata } = await startExecution(kube, { namespace, name: 'stores' }, { workflow: 'none' });
    const owner = { namespace, name: metadata.name, uid: metadata.uid ?? '' };
    const blob = createBlob(Buffer.from('honest'));
    await createConfigMapStore(kube).put(owner, [blob], 0);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const stored = `${path}/${blobName(owner.uid, blob.ref, 0)}`;
    const mine = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    const answers = [
      await asMallory('DELETE', stored),
      await asMallory('DELETE', path),
      await asMallory('PATCH', stored, { metadata: { ownerReferences: null } }, mergePatch),
      await asMallory('POST', path, mine(blobName(owner.uid, createBlob(Buffer.from('later')).ref, 0))),
    ];
    for (const { status, message } of answers) {
      expect([status, message]).toEqual([403, expect.stringContaining('stored-outputs.windlass.dev')]);
    }
    expect((await asMallory('POST', path, mine('output-of-mallory'))).status).toBe(201);
    expect((await asMallory('DELETE', `${path}/output-of-mallory`)).status).toBe(200);
    await kube.delete(workflowExecutions, owner);
    await waitForNone(kube, { resource: configMaps, namespace, labelSelector: `${labels.executionUid}=${owner.uid}` });
  });
});

describe('Mallory and the words of a step that waits', () => {
  const regarding = ({ metadata: { name, namespace, uid } }: Pod): object => ({
    kind: 'Pod',
    apiVersion: 'v1',
    name,
    namespace,
    uid,
  });
  const eventsIn = (group: 'core' | 'events.k8s.io'): string =>
    `${group === 'core' ? '/api/v1' : '/apis/events.k8s.io/v1'}/namespaces/${world.namespace}/events`;
  const lie = 'the registry wants your password at evil.example';
  const newEvent = (pod: Pod, reporter: string): object => ({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `a-${randomUUID()}` },
    eventTime: new Date(Date.now() + 3_600_000).toISOString().replace('Z', '000Z'),
    type: 'Warning',
    reason: 'Failed',
    action: 'Pulling',
    note: lie,
    regarding: regarding(pod),
    reportingController: reporter,
    reportingInstance: 'x',
  });
  const coreEvent = (pod: Pod, source: string): object => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `a-${randomUUID()}` },
    type: 'Warning',
    reason: 'Failed',
    message: lie,
    involvedObject: regarding(pod),
    source: { component: source },
    lastTimestamp: new Date(Date.now() + 3_600_000).toISOString(),
  });

  it('she writes Events under her own name only, changes none of the kubelet, and the step says nothing of hers', async () => {
    const image = 'registry.invalid:5000/team/app:1';
    const ref = await start(aScript('true', { image, registry_credentials: 'no-such-secret', queue_timeout: '10m' }));
    const pod = await podOf(ref, ({ spec }) => spec.nodeName !== undefined);
    for (let count = 0; count < 12; count++) {
      expect((await asMallory('POST', eventsIn('events.k8s.io'), newEvent(pod, 'mallory'))).status).toBe(201);
    }
    const forged: [string, object][] = ['kubelet', 'attachdetach-controller'].flatMap((reporter) => [
      [eventsIn('events.k8s.io'), newEvent(pod, reporter)],
      [eventsIn('core'), coreEvent(pod, reporter)],
      [eventsIn('core'), { ...coreEvent(pod, 'mallory'), reportingComponent: reporter }],
    ]);
    for (const [path, body] of forged) {
      const { status, message } = await asMallory('POST', path, body);
      expect([status, message]).toEqual([403, expect.stringContaining('pod-events.windlass.dev')]);
    }
    const { kube, namespace } = world;
    const fieldSelector = `regarding.uid=${pod.metadata.uid},reportingController=kubelet`;
    const warned = await waitForView(kube, { resource: events, namespace, fieldSelector }, (view) =>
      [...view.values()].find(({ type }) => type === 'Warning'),
    );
    const path = `${eventsIn('core')}/${warned.metadata.name}`;
    const changed = await asMallory(
      'PATCH',
      path,
      { message: lie, source: { component: 'me' }, reportingComponent: 'me' },
      mergePatch,
    );
    expect([changed.status, changed.message]).toEqual([403, expect.stringContaining('pod-events.windlass.dev')]);
    const isNoted = ({ status }: WorkflowExecution): boolean => /; \w+: ./.test(status?.message ?? '');
    const waiting = await waitForObject(kube, { resource: workflowExecutions, ...ref }, isNoted);
    expect(waiting.status?.message).not.toContain('evil');
    await kube.delete(workflowExecutions, ref);
  });
});
