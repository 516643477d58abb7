import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { State } from '../../../crds/schema/state.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { defineResource, type KubeObject, type Pod, pods, resourceQuotas } from '../../../lib/kube/index.ts';
import { aScript, aWorkflow, busybox } from '../../builders/workflow-builder.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import type { ApiProxy } from '../harness/api-proxy.ts';
import { verbOf } from '../harness/exchange.ts';
import { ensureWorkflow, startExecution, waitUntilFinished, waitUntilWaiting } from '../harness/executions.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { programPath } from '../outputs/programs.ts';
import { pause, waitForNone, waitForObject, waitForView } from '../harness/wait.ts';

const run = promisify(execFile);

const limitRanges = defineResource<KubeObject & { readonly spec: object }>({
  group: '',
  version: 'v1',
  plural: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
});
const priorityClasses = defineResource<KubeObject & { readonly value: number }>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
});

/** How long a wait may take to show (issue 10, F3), and the machine's own slowness on top. */
const shownMs = 2_000 + 1_500;

describe('what happened is what is said', () => {
  let stage: Stage;
  let proxy: ApiProxy;

  beforeAll(async () => {
    stage = await openStage('verdicts');
    proxy = await stage.proxy('api');
    await stage.controllers(proxy, { WINDLASS_STEP_WORKDIR_SIZE: '8Mi' });
  });

  afterEach(async () => {
    proxy.setRules({});
    await stage.kube.deleteCollection(resourceQuotas, { namespace: stage.namespace });
    await stage.kube.deleteCollection(limitRanges, { namespace: stage.namespace });
  });

  afterAll(() => stage?.strike());

  const kubectl = async (...args: string[]) =>
    run(await programPath('kubectl'), ['--kubeconfig', kubeconfigPath(), ...args]);

  /** Starts a workflow of these states; the first is where it begins. */
  async function start(states: Readonly<Record<string, State>>): Promise<{ namespace: string; name: string }> {
    const name = `v-${randomUUID().slice(0, 8)}`;
    const builder = aWorkflow(name);
    for (const [state, definition] of Object.entries(states)) builder.state(state, definition);
    const workflow = builder.build();
    await ensureWorkflow(stage.kube, { ...workflow, metadata: { name, namespace: stage.namespace } });
    const ref = { namespace: stage.namespace, name };
    await startExecution(stage.kube, ref, { workflow: name });
    return ref;
  }

  const firstVisit = async (ref: { namespace: string; name: string }, timeoutMs = 90_000) => {
    const { status } = await waitUntilFinished(stage.kube, ref, { timeoutMs });
    return { ...status?.history?.[0], entry: status?.blackboard?.['step']?.value as Record<string, unknown> };
  };

  const isOf = (name: string, { metadata }: Pod): boolean => metadata.labels?.['windlass.dev/execution'] === name;

  /** The pod of an execution, once it runs. */
  const runningPod = ({ namespace, name }: { namespace: string; name: string }): Promise<Pod> =>
    waitForView(stage.kube, { resource: pods, namespace }, (view) =>
      [...view.values()].find(
        (pod) => isOf(name, pod) && pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined,
      ),
    );

  const shows = (ref: { namespace: string; name: string }, reason: string, timeoutMs: number) =>
    waitForObject(
      stage.kube,
      { resource: workflowExecutions, ...ref },
      ({ status }: WorkflowExecution) => status?.reason === reason,
      { timeoutMs },
    );

  it('a kubelet whose API is away for 40 s costs neither an attempt nor an output', async () => {
    const kubelet = 'Get "https://10.0.0.1:10250/containerLogs": dial tcp 10.0.0.1:10250: connect: connection refused';
    const body = { kind: 'Status', status: 'Failure', code: 500, reason: 'InternalError', message: kubelet };
    proxy.setRules({ before: (exchange) => (verbOf(exchange) === 'log' ? { status: 500, body } : 'forward') });
    const ref = await start({ step: aScript('echo kept', { retry: { max_attempts: 3 }, timeout: '5m' }) });
    await pause(40_000);
    expect((await stage.kube.get(workflowExecutions, ref)).status?.phase).toBe('running');
    proxy.setRules({});
    expect(await firstVisit(ref)).toMatchObject({ status: 'success', attempts: 1, entry: { stdout: 'kept\n' } });
  });

  it('a pod that is gone keeps its exit code, and says that its output is lost', async () => {
    const body = { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', message: 'pods "x" not found' };
    proxy.setRules({ before: (exchange) => (verbOf(exchange) === 'log' ? { status: 404, body } : 'forward') });
    const visit = await firstVisit(await start({ step: aScript('echo lost', { retry: { max_attempts: 3 } }) }));
    expect(visit).toMatchObject({ status: 'success', attempts: 1, entry: { exit_code: 0, output_lost: true } });
  });

  it('a command whose memory ran out is OutOfMemory, by the counter of its cgroup', async () => {
    const visit = await firstVisit(await start({ step: aScript('tail /dev/zero', { resources: { memory: '24Mi' } }) }));
    expect(visit).toMatchObject({ status: 'failed', reason: 'OutOfMemory', entry: { exit_code: 137 } });
  });

  it('a command that tells process 1 to stop has an exit code, and was not deleted', async () => {
    const visit = await firstVisit(await start({ step: aScript('kill -TERM 1; sleep 30') }));
    expect(visit).toMatchObject({ status: 'failed', reason: 'ExitCode', entry: { exit_code: 143 } });
  });

  it('AMB-191 a drained step says so, and is run again where the state wants that', { timeout: 240_000 }, async () => {
    const script = 'echo begun; sleep 12; echo done';
    const refs = [
      await start({ step: aScript(script) }),
      await start({ step: aScript(script, { retry_on_disruption: true }) }),
    ];
    for (const ref of refs) {
      const pod = await runningPod(ref);
      const node = pod.spec.nodeName ?? '';
      const selector = `windlass.dev/execution=${ref.name}`;
      const args = ['--pod-selector', selector, '--force', '--delete-emptydir-data', '--timeout=60s'];
      await kubectl('drain', node, ...args).catch(() => undefined);
      await kubectl('uncordon', node);
    }
    const [failed, again] = await Promise.all(refs.map((ref) => firstVisit(ref, 120_000)));
    expect(failed).toMatchObject({ status: 'failed', reason: 'PodDrained', attempts: 1, entry: { stdout: 'begun\n' } });
    expect(again).toMatchObject({ status: 'success', attempts: 2, entry: { stdout: 'begun\ndone\n' } });
  });

  it('AMB-191 a step that the Eviction API takes away keeps what it had printed', async () => {
    const ref = await start({ step: aScript('echo begun; sleep 60') });
    const pod = await runningPod(ref);
    await pause(1_000);
    const path = `/api/v1/namespaces/${ref.namespace}/pods/${pod.metadata.name}/eviction`;
    const { name, namespace } = pod.metadata;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    const child = spawn(await programPath('kubectl'), [
      '--kubeconfig',
      kubeconfigPath(),
      'create',
      '--raw',
      path,
      '-f',
      '-',
    ]);
    child.stdin.end(JSON.stringify(body));
    await once(child, 'exit');
    expect(await firstVisit(ref)).toMatchObject({ reason: 'PodDrained', entry: { stdout: 'begun\n' } });
  });

  it('AMB-191 a step that gives way to a pod of higher priority is PodPreempted', { timeout: 240_000 }, async () => {
    const { kube, namespace } = stage;
    const high = `high-${randomUUID().slice(0, 8)}`;
    await kube.create(priorityClasses, { metadata: { name: high }, value: 1_000_000 });
    try {
      const ref = await start({ step: aScript('sleep 100', { resources: { cpu: 1_200 }, timeout: '5m' }) });
      const step = await runningPod(ref);
      await kube.create(pods, preemptor(namespace, high, step.spec.nodeName ?? ''));
      expect(await firstVisit(ref, 120_000)).toMatchObject({ status: 'failed', reason: 'PodPreempted', attempts: 1 });
      await kube.delete(pods, { namespace, name: high });
    } finally {
      await kube.delete(priorityClasses, { name: high });
    }
  });

  it('a step that writes more than it may is evicted by the kubelet, and is not run again for it', async () => {
    const fills = aScript('head -c 20000000 /dev/zero >big; sleep 100', { retry_on_disruption: true });
    const visit = await firstVisit(await start({ step: fills }));
    expect(visit).toMatchObject({ status: 'failed', reason: 'StorageExceeded', attempts: 1 });
  });

  it('F3 AMB-190 a step that finds no node says so in the words of the scheduler, and then never started', async () => {
    const startedAt = Date.now();
    const ref = await start({ step: aScript('true', { resources: { cpu: 100_000 }, queue_timeout: '12s' }) });
    const { status } = await shows(ref, 'WaitingForNode', 10_000);
    expect(Date.now() - startedAt).toBeLessThan(shownMs);
    expect(status?.message).toContain('Insufficient cpu');
    expect((await kubectl('get', 'wfx', ref.name, '-n', ref.namespace, '-o', 'wide')).stdout).toContain(
      'Insufficient cpu',
    );
    const visit = await firstVisit(ref);
    expect(visit).toMatchObject({ status: 'failed', reason: 'NeverStarted', entry: { exit_code: -1 } });
    expect(visit.message).toContain('Insufficient cpu');
  });

  it('F3 AMB-190 a step whose registry is not there waits, and keeps the cause', async () => {
    const image = 'registry.invalid:5000/team/app:1';
    const ref = await start({ step: aScript('true', { image, queue_timeout: '30s' }) });
    const { status } = await shows(ref, 'WaitingForImage', 30_000);
    expect(status?.message).toContain('registry.invalid');
    expect(status?.message).toMatch(/no such host|dial tcp|lookup/);
    expect(await firstVisit(ref)).toMatchObject({ status: 'failed', reason: 'NeverStarted' });
  });

  it('F3 AMB-190 a step that waits for a quota says so, begins when there is room, and the gate after it says no more', async () => {
    const { kube, namespace } = stage;
    await kube.create(resourceQuotas, { metadata: { name: 'q', namespace }, spec: { hard: { pods: '0' } } });
    await waitForObject(
      kube,
      { resource: resourceQuotas, namespace, name: 'q' },
      ({ status }) => status?.hard !== undefined,
    );
    const ask: State = { kind: 'Human', prompt: 'go?', transitions: [] };
    const ref = await start({ step: aScript('true', { next: 'ask' }), ask });
    const { status } = await shows(ref, 'QuotaExceeded', 10_000);
    expect(status?.message).toContain('exceeded quota: q');
    await kube.mergePatch(resourceQuotas, { namespace, name: 'q' }, { spec: { hard: { pods: '50' } } });
    const waiting = await waitUntilWaiting(kube, { ...ref, state: 'ask' }, { timeoutMs: 60_000 });
    expect(waiting.status).toMatchObject({ reason: 'WaitingForSignal', history: [{ status: 'success' }] });
    await kube.delete(workflowExecutions, ref);
  });

  it('a LimitRange that forbids the step refuses it at once, in its own words', async () => {
    const { kube, namespace } = stage;
    const limits = [{ type: 'Container', max: { memory: '64Mi' } }];
    await kube.create(limitRanges, { metadata: { name: 'small', namespace }, spec: { limits } });
    const visit = await firstVisit(await start({ step: aScript('true', { resources: { memory: '128Mi' } }) }));
    expect(visit).toMatchObject({ status: 'failed', reason: 'PodRejected', entry: { exit_code: -1 } });
    expect(visit.message).toContain('maximum memory usage per Container is 64Mi, but limit is 128Mi');
  });

  it('an execution that is made again under its name strands no pod of the one before', async () => {
    const ref = await start({ step: aScript('sleep 100') });
    const before = await runningPod(ref);
    await stage.kube.delete(workflowExecutions, ref);
    await waitForNone(stage.kube, {
      resource: workflowExecutions,
      namespace: ref.namespace,
      fieldSelector: `metadata.name=${ref.name}`,
    });
    await startExecution(stage.kube, ref, { workflow: ref.name });
    const { name = '' } = before.metadata;
    const left = { resource: pods, namespace: ref.namespace, fieldSelector: `metadata.name=${name}` };
    await expect(waitForNone(stage.kube, left, { timeoutMs: 60_000 })).resolves.toBe(true);
    await stage.kube.delete(workflowExecutions, ref);
  });
});

/** A pod that the scheduler makes room for on one node. */
const preemptor = (namespace: string, name: string, node: string): Pod =>
  ({
    metadata: { name, namespace },
    spec: {
      priorityClassName: name,
      nodeSelector: { 'kubernetes.io/hostname': node },
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'main',
          image: busybox,
          command: ['sleep', '60'],
          resources: { requests: { cpu: '1200m' } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  }) as Pod;
