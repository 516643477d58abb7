import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StateOf } from '../../crds/schema/state.ts';
import type { Storage } from '../../crds/schema/storage.ts';
import type { Volume, VolumeSpec } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import {
  events,
  type KubeClient,
  nodes,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  pods,
  type StorageClass,
  storageClasses,
} from '../../lib/kube/index.ts';
import { anEnd, aQuestion, aScript, aWorkflow, type WorkflowBuilder } from '../builders/workflow-builder.ts';
import {
  ensureWorkflow,
  sendSignal,
  startExecution,
  waitUntilFinished,
  waitUntilWaiting,
} from './harness/executions.ts';
import { volumes, workflowExecutions, workflows } from './harness/kinds.ts';
import { openStage, type Stage } from './harness/stage.ts';
import { type UsedControllers, useControllers } from './harness/used-controllers.ts';
import { waitForNone, waitForObject, waitForView } from './harness/wait.ts';

interface Place {
  readonly kube: KubeClient;
  readonly namespace: string;
}

/** A script with a volume mounted at /data. */
const withVolume = (script: string, name: string, fields: Partial<StateOf<'ContainerRun'>> & { next?: string } = {}) =>
  aScript(script, { volumes: [{ name, mount_path: '/data' }], ...fields });

/** A workflow with a workspace, or with other storage. */
const aStore = (name: string, storage: Storage = { workspace: {} }): WorkflowBuilder =>
  aWorkflow(name).with({ storage, output_template: { read: '{{trim read.output.stdout}}' } });

async function start({ kube, namespace }: Place, builder: WorkflowBuilder, run?: string): Promise<WorkflowExecution> {
  const workflow = builder.build();
  const { name } = workflow.metadata;
  await ensureWorkflow(kube, { ...workflow, metadata: { name, namespace } });
  return startExecution(kube, { namespace, name: run ?? name }, { workflow: name });
}

async function run(place: Place, builder: WorkflowBuilder, name?: string): Promise<WorkflowExecution> {
  const { metadata } = await start(place, builder, name);
  const ref = { namespace: place.namespace, name: metadata.name };
  return waitUntilFinished(place.kube, ref, { timeoutMs: 120_000 });
}

function makeVolume({ kube, namespace }: Place, name: string, spec: VolumeSpec): Promise<Volume> {
  return kube.create(volumes, { apiVersion: 'windlass.dev/v1', kind: 'Volume', metadata: { name, namespace }, spec });
}

/** The Volume objects that an execution has made, by their names in the workflow. */
async function volumesOf({ kube, namespace }: Place, execution: WorkflowExecution): Promise<Record<string, Volume>> {
  const named = Object.entries(execution.status?.volumes ?? {});
  const found = named.map(async ([name, { volume }]) => [name, await kube.get(volumes, { namespace, name: volume })]);
  return Object.fromEntries(await Promise.all(found)) as Record<string, Volume>;
}

const claimOf = ({ kube, namespace }: Place, { metadata }: Volume): Promise<PersistentVolumeClaim> =>
  kube.get(persistentVolumeClaims, { namespace, name: metadata.name });

const claimGone = ({ kube, namespace }: Place, name: string) =>
  waitForNone(kube, { resource: persistentVolumeClaims, namespace, fieldSelector: `metadata.name=${name}` });

/** Waits for an Event about an object and gives its note. */
function eventAbout({ kube, namespace }: Place, name: string, reason: string): Promise<string> {
  return waitForView(
    kube,
    { resource: events, namespace },
    (view) => [...view.values()].find((event) => event.regarding?.name === name && event.reason === reason)?.note,
    { what: `an Event ${reason} about ${name}` },
  );
}

async function setSchedulable({ kube }: Place, usable: (index: number) => boolean): Promise<void> {
  const { items } = await kube.listAll(nodes);
  const names = items.map(({ metadata }) => metadata.name ?? '').sort();
  for (const [index, name] of names.entries()) {
    await kube.mergePatch(nodes, { name }, { spec: { unschedulable: usable(index) ? null : true } });
  }
}

describe('volumes', () => {
  let used: UsedControllers;
  const ref = (name: string) => ({ namespace: used.namespace, name });

  beforeAll(async () => {
    used = await useControllers('volumes');
  });
  afterAll(() => used?.release());

  it('WF-STOR-01 WF-STOR-02 WF-STOR-03 WF-STOR-04 WF-STOR-05 WF-STOR-06 WF-STOR-07 WF-STOR-10 are made before any state runs, as the workflow says', async () => {
    const storage: Storage = {
      workspace: { storage_class: 'ephemeral', ttl_hours: 2, size_limit_mb: 48 },
      shared_volumes: [
        { name: 'cache', storage_class: 'ephemeral', ttl_hours: 1, size_limit_mb: 16 },
        { name: 'models', storage_class: 'persistent' },
      ],
    };
    const names = '{{workflow.storage.workspace}} {{workflow.storage.shared_volumes.cache}}';
    const mounts = ['workspace', 'cache', 'models'].map((name) => ({ name, mount_path: `/data/${name}` }));
    const script = `for v in workspace cache models; do echo x >/data/$v/f && cat /data/$v/f; done; echo ${names}`;
    const execution = await run(used, aStore('all-kinds', storage).state('read', aScript(script, { volumes: mounts })));
    expect(execution.status).toMatchObject({
      phase: 'completed',
      final_output: { read: 'x\nx\nx\nworkspace cache' },
    });
    const made = await volumesOf(used, execution);
    const startedAt = Date.parse(execution.status?.started_at ?? '');
    const after = (hours: number) => new Date(startedAt + hours * 3_600_000).toISOString();
    expect(made['workspace']?.spec).toEqual({ storage_class: 'ephemeral', size_limit_mb: 48, expires_at: after(2) });
    expect(made['cache']?.spec).toEqual({ storage_class: 'ephemeral', size_limit_mb: 16, expires_at: after(1) });
    expect(made['models']?.spec).toEqual({ storage_class: 'persistent' });
    const requests: Record<string, string | undefined> = {};
    const { items } = await used.kube.listAll(pods, { namespace: used.namespace });
    const firstPod = Math.min(...items.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '')));
    for (const [name, volume] of Object.entries(made)) {
      const claim = await claimOf(used, volume);
      requests[name] = claim.spec.resources?.requests?.['storage'];
      expect(Date.parse(claim.metadata.creationTimestamp ?? '')).toBeLessThanOrEqual(firstPod);
    }
    expect(requests).toMatchObject({ workspace: '48Mi', cache: '16Mi' });
  });

  it('AMB-179 WF-STOR-05 may have any names, each a claim of its own', async () => {
    const names = ['my cache', 'My-Cache', 'node_modules', '\u{1f4e6}'.repeat(63), '__proto__', 'a~1b'];
    const storage: Storage = { shared_volumes: names.map((name) => ({ name })) };
    const mounts = names.map((name, index) => ({ name, mount_path: `/data/${index}` }));
    const script = `for v in 0 1 2 3 4 5; do echo $v >/data/$v/f; done; cat /data/*/f; echo {{workflow.storage.shared_volumes.[my cache]}}`;
    const execution = await run(used, aStore('odd-names', storage).state('read', aScript(script, { volumes: mounts })));
    expect(execution.status).toMatchObject({
      phase: 'completed',
      final_output: { read: '0\n1\n2\n3\n4\n5\nmy cache' },
    });
    const { items } = await used.kube.listAll(volumes, {
      namespace: used.namespace,
      labelSelector: `windlass.dev/execution-uid=${execution.metadata.uid}`,
    });
    const declared = items.map(({ metadata }) => metadata.annotations?.['windlass.dev/volume']);
    expect(new Set(declared)).toEqual(new Set(names));
    expect(declared.length).toBe(names.length);
    expect(new Set(items.map(({ status }) => status?.claim_name)).size).toBe(names.length);
  });

  it.each(['', 'x'.repeat(64), 'a/b', 'a\nb'])('AMB-179 the API server refuses the name %j', async (name) => {
    const workflow = aStore('no-name', { shared_volumes: [{ name }] })
      .state('read', aScript('true'))
      .build();
    const metadata = { name: 'no-name', namespace: used.namespace };
    await expect(used.kube.create(workflows, { ...workflow, metadata })).rejects.toThrow('shared_volumes[0].name');
  });

  it('WF-STOR-01 what a state writes is there for the next one, on another node as well', async () => {
    const builder = aStore('two-nodes')
      .state('write', withVolume('echo from afar >/data/file', 'workspace', { next: 'gate' }))
      .state('gate', aQuestion('Go on?', { yes: 'read', no: 'end' }))
      .state('read', withVolume('cat /data/file', 'workspace'))
      .state('end', anEnd());
    try {
      await setSchedulable(used, (index) => index === 0);
      await start(used, builder);
      await waitUntilWaiting(used.kube, { ...ref('two-nodes'), state: 'gate' });
      await setSchedulable(used, (index) => index !== 0);
      await sendSignal(used.kube, ref('two-nodes'), { state: 'gate', response: 'yes' });
      const { status, metadata } = await waitUntilFinished(used.kube, ref('two-nodes'));
      expect(status).toMatchObject({ phase: 'completed', final_output: { read: 'from afar' } });
      const labelSelector = `windlass.dev/execution-uid=${metadata.uid}`;
      const { items } = await used.kube.listAll(pods, { namespace: used.namespace, labelSelector });
      expect(new Set(items.map(({ spec }) => spec.nodeName)).size).toBe(2);
    } finally {
      await setSchedulable(used, () => true);
    }
  });

  // These wait for most of their time, each for volumes of its own. Those that measure a time follow one another.
  it.concurrent('WF-CR-12 a read-only mount refuses writes, and the default does not', async () => {
    const mount = { name: 'workspace', mount_path: '/data' };
    const builder = aStore('read-only')
      .state('write', aScript('echo kept >/data/file', { volumes: [mount], next: 'read' }))
      .state('read', aScript('cat /data/file; echo lost >/data/file', { volumes: [{ ...mount, read_only: true }] }));
    const { status } = await run(used, builder);
    expect(status?.history?.map(({ state, status: outcome }) => `${state} ${outcome}`)).toEqual([
      'write success',
      'read failed',
    ]);
    const entry = JSON.stringify(status?.blackboard?.['read']);
    expect(entry).toContain('Read-only file system');
    expect(entry).toContain('kept');
  });

  it.concurrent('WF-STOR-09 WF-STOR-12 a persistent volume outlives executions, until a user deletes it', async () => {
    const { metadata } = await makeVolume(used, 'archive', { storage_class: 'persistent' });
    const shared = { name: 'store', storage_class: 'persistent', volume_id: metadata.uid } as const;
    const builder = aStore('archive', { shared_volumes: [shared] }).state(
      'read',
      withVolume('echo line >>/data/log; wc -l </data/log', 'store'),
    );
    for (const count of [1, 2]) {
      const { status } = await run(used, builder, `archive-${count}`);
      expect(status).toMatchObject({ phase: 'completed', final_output: { read: count } });
      await used.kube.delete(workflowExecutions, ref(`archive-${count}`), { propagation: 'Background' });
      const fieldSelector = `metadata.name=archive-${count}`;
      await waitForNone(used.kube, { resource: workflowExecutions, namespace: used.namespace, fieldSelector });
    }
    const { status } = await run(used, builder, 'archive-3');
    expect(status?.final_output).toEqual({ read: 3 });
    await used.kube.delete(volumes, ref('archive'));
    expect(await eventAbout(used, 'archive', 'VolumeDeleted')).toBe('deleted; its data are deleted');
    await claimGone(used, 'archive');
  });

  it.concurrent('WF-STOR-09 a volume_id that names nothing fails the execution', async () => {
    const shared = { name: 'store', storage_class: 'persistent', volume_id: crypto.randomUUID() } as const;
    const builder = aStore('nothing', { shared_volumes: [shared] }).state('read', withVolume('true', 'store'));
    const { status } = await run(used, builder);
    expect(status).toMatchObject({ phase: 'failed', reason: 'VolumeNotFound' });
    expect(status?.history ?? []).toEqual([]);
  });

  it.concurrent('WF-STOR-12 deleting an execution deletes its ephemeral volumes and keeps its persistent ones', async () => {
    const storage: Storage = { workspace: {}, shared_volumes: [{ name: 'models', storage_class: 'persistent' }] };
    const execution = await run(used, aStore('leaving', storage).state('read', withVolume('true', 'models')));
    const { workspace, models } = await volumesOf(used, execution);
    const [ephemeral, persistent] = [workspace?.metadata.name ?? '', models?.metadata.name ?? ''];
    await used.kube.delete(workflowExecutions, ref('leaving'), { propagation: 'Background' });
    await claimGone(used, ephemeral);
    await eventAbout(used, ephemeral, 'VolumeDeleted');
    expect((await used.kube.get(volumes, ref(persistent))).status?.phase).toBe('ready');
    expect((await used.kube.get(persistentVolumeClaims, ref(persistent))).metadata.deletionTimestamp).toBeUndefined();
  });

  it.concurrent('AMB-173 an ephemeral volume with its own TTL outlives its execution, and is deleted with its data', async () => {
    const storage: Storage = { workspace: { storage_class: 'ephemeral', ttl_hours: 1 } };
    const writer = aStore('outlived', storage).state('read', withVolume('echo kept >/data/file', 'workspace'));
    const { workspace } = await volumesOf(used, await run(used, writer));
    const { name = '', uid = '' } = workspace?.metadata ?? {};
    await used.kube.delete(workflowExecutions, ref('outlived'), { propagation: 'Foreground' });
    await waitForNone(used.kube, {
      resource: workflowExecutions,
      namespace: used.namespace,
      fieldSelector: 'metadata.name=outlived',
    });
    const named: Storage = { shared_volumes: [{ name: 'left', storage_class: 'persistent', volume_id: uid }] };
    const reader = aStore('reads-left', named).state('read', withVolume('cat /data/file', 'left'));
    expect((await run(used, reader)).status).toMatchObject({ phase: 'completed', final_output: { read: 'kept' } });

    const expired = new Date(Date.now() - 1_000).toISOString();
    await used.kube.mergePatch(volumes, ref(name), { spec: { expires_at: expired } });
    await waitForObject(used.kube, { resource: volumes, ...ref(name) }, ({ status }) => status?.phase === 'expired');
    await claimGone(used, name);
    const { status } = await run(used, reader, 'reads-none');
    expect(status).toMatchObject({ phase: 'failed', reason: 'VolumeExpired' });
  });

  it('WF-STOR-11 an ephemeral volume is deleted when its time is over', async () => {
    const expiresAt = new Date(Date.now() + 4_000).toISOString();
    await makeVolume(used, 'short', { storage_class: 'ephemeral', expires_at: expiresAt });
    const target = { resource: volumes, ...ref('short') };
    await waitForObject(used.kube, target, ({ status }) => status?.phase === 'ready');
    const { status } = await waitForObject(used.kube, target, (volume) => volume.status?.phase === 'expired');
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    expect(status?.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'VolumeExpired' }]);
    await claimGone(used, 'short');
    expect(await eventAbout(used, 'short', 'VolumeExpired')).toContain(expiresAt);
  });

  it.concurrent('WF-STOR-11 a state that needs a volume that has expired fails and says so', async () => {
    const builder = aStore('late')
      .state('write', withVolume('echo secret >/data/file', 'workspace', { next: 'gate' }))
      .state('gate', aQuestion('Go on?', { yes: 'read', no: 'read' }))
      .state('read', withVolume('true', 'workspace'));
    await start(used, builder);
    const execution = await waitUntilWaiting(used.kube, { ...ref('late'), state: 'gate' });
    const name = execution.status?.volumes?.['workspace']?.volume ?? '';
    const expired = new Date(Date.now() - 1_000).toISOString();
    await used.kube.mergePatch(volumes, ref(name), { spec: { expires_at: expired } });
    await waitForObject(used.kube, { resource: volumes, ...ref(name) }, ({ status }) => status?.phase === 'expired');
    await claimGone(used, name);
    await sendSignal(used.kube, ref('late'), { state: 'gate', response: 'yes' });
    const { status } = await waitUntilFinished(used.kube, ref('late'));
    expect(status?.phase).toBe('completed');
    expect(status?.history?.at(-1)).toMatchObject({ state: 'read', status: 'failed', reason: 'VolumeExpired' });
  });

  it.concurrent('a claim that was made beforehand is used, and stays when the Volume is deleted', async () => {
    const spec = { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '16Mi' } } };
    await used.kube.create(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: ref('made-before'),
      spec,
    });
    const volume = await makeVolume(used, 'borrowed', { storage_class: 'persistent', claim_name: 'made-before' });
    const shared = { name: 'store', storage_class: 'persistent', volume_id: volume.metadata.uid } as const;
    const builder = aStore('borrowed', { shared_volumes: [shared] }).state(
      'read',
      withVolume('echo here >/data/file; cat /data/file', 'store'),
    );
    expect((await run(used, builder)).status).toMatchObject({ phase: 'completed', final_output: { read: 'here' } });
    await used.kube.delete(volumes, ref('borrowed'));
    expect(await eventAbout(used, 'borrowed', 'VolumeDeleted')).toContain('claim made-before stays');
    expect(
      (await used.kube.get(persistentVolumeClaims, ref('made-before'))).metadata.deletionTimestamp,
    ).toBeUndefined();
  });

  it('a claim of the same name of another owner is left alone', async () => {
    await used.kube.create(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: ref('foreign'),
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '16Mi' } } },
    });
    await makeVolume(used, 'foreign', {
      storage_class: 'ephemeral',
      expires_at: new Date(Date.now() + 3_000).toISOString(),
    });
    const target = { resource: volumes, ...ref('foreign') };
    const { status } = await waitForObject(used.kube, target, (volume) => volume.status?.phase === 'failed');
    expect(status?.conditions?.[0]).toMatchObject({ reason: 'ClaimFailed' });
    await waitForObject(used.kube, target, (volume) => volume.status?.phase === 'expired');
    expect(
      (await claimOf(used, await used.kube.get(volumes, ref('foreign')))).metadata.deletionTimestamp,
    ).toBeUndefined();
  });
});

describe('volumes of other storage classes', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage('volume-classes');
  });
  afterAll(() => stage?.strike());

  it('WF-STOR-04 WF-STOR-08 writes beyond the size limit fail with ENOSPC', async () => {
    const controllers = await stage.controllers(await stage.proxy('sized'), { WINDLASS_STORAGE_CLASS: 'sized' });
    const builder = aStore('full', { workspace: { size_limit_mb: 24 } })
      .state('small', withVolume('dd if=/dev/zero of=/data/small bs=1M count=8', 'workspace', { next: 'large' }))
      .state('large', withVolume('dd if=/dev/zero of=/data/large bs=1M count=32', 'workspace'));
    const { status } = await run(stage, builder);
    await controllers.stop();
    expect(status?.history?.map(({ state, status: outcome }) => `${state} ${outcome}`)).toEqual([
      'small success',
      'large failed',
    ]);
    expect(JSON.stringify(status?.blackboard?.['large'])).toContain('No space left on device');
  });

  it('WF-STOR-10 a class that waits for its first consumer holds nothing up', async () => {
    const { metadata: _, ...standard } = await stage.kube.get<StorageClass>(storageClasses, { name: 'standard' });
    const name = `waiting-${stage.namespace}`;
    const waiting = { ...standard, metadata: { name }, volumeBindingMode: 'WaitForFirstConsumer' };
    await stage.kube.create(storageClasses, waiting);
    try {
      const controllers = await stage.controllers(await stage.proxy('waiting'), { WINDLASS_STORAGE_CLASS: name });
      const builder = aStore('first-consumer').state(
        'read',
        withVolume('echo here >/data/f; cat /data/f', 'workspace'),
      );
      const { status } = await run(stage, builder);
      await controllers.stop();
      expect(status).toMatchObject({ phase: 'completed', final_output: { read: 'here' } });
    } finally {
      await stage.kube.delete(storageClasses, { name });
    }
  });
});
