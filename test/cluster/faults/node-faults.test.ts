import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, type Node, nodes, type Pod, pods } from '../../../lib/kube/index.ts';
import type { WorkflowExecutionSpec } from '../../../crds/schema/workflow-execution.ts';
import { aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { projectDir } from '../harness/project.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { waitForView } from '../harness/wait.ts';

const run = promisify(execFile);
const cluster = (script: string, ...args: string[]) => run(join(projectDir, 'dev', 'cluster', script), args);

const slow = aWorkflow('slow')
  .state(
    'step',
    aScript('echo begun; sleep 8; echo done', { retry: { max_attempts: 3, backoff: '1s' }, timeout: '4m' }),
  )
  .with({ output_template: { said: '{{step.output.stdout}}' } })
  .build();

/** Kubernetes waits 40 s before it takes the pods of a node that is gone, and looks every 20 s. */
const takenWithinSeconds = 85;

/** Runs until a moment: a second run ends soon, and one that was taken away before it did not end. */
const until = (retries: boolean) =>
  aWorkflow(`until-${retries}`)
    .state(
      'step',
      aScript('echo begun; until [ $(date +%s) -ge $END ]; do sleep 1; done; echo done', {
        env: { END: '{{input.end}}' },
        retry_on_disruption: retries,
        timeout: '4m',
      }),
    )
    .with({ output_template: { said: '{{step.output.stdout}}' } })
    .build();

/** Only the native cluster's nodes can be broken at will. */
describe.skipIf(!isNativeCluster())('steps survive what happens to their nodes', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage('nodes');
    await stage.controllers(await stage.proxy('api'), { WINDLASS_STEP_NODE_LOST_SECONDS: '5' });
    for (const workflow of [slow, until(true), until(false)]) {
      await ensureWorkflow(stage.kube, { ...workflow, metadata: { ...workflow.metadata, namespace: stage.namespace } });
    }
  });

  afterEach(async () => {
    await cluster('node', 'start', '2');
    await waitForView(
      stage.kube,
      { resource: nodes },
      (view) => ([...view.values()].every(isReady) ? true : undefined),
      { timeoutMs: 60_000, what: 'all nodes Ready' },
    );
  });

  afterAll(() => stage?.strike());

  const isReady = ({ status }: Node): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

  /** Starts several and resolves with their names when all run. */
  async function startSlow(prefix: string, count: number): Promise<string[]> {
    return startAll(Array.from({ length: count }, (_, i) => ({ name: `${prefix}-${i}`, spec: { workflow: 'slow' } })));
  }

  /** Starts executions and resolves with their names when all run. */
  async function startAll(runs: readonly { name: string; spec: WorkflowExecutionSpec }[]): Promise<string[]> {
    const names = runs.map(({ name }) => `${name}-${randomUUID().slice(0, 8)}`);
    for (const [i, name] of names.entries()) {
      await startExecution(stage.kube, { namespace: stage.namespace, name }, (runs[i] as (typeof runs)[number]).spec);
    }
    const count = names.length;
    const isOurs = ({ metadata }: Pod): boolean => names.includes(metadata.labels?.['windlass.dev/execution'] ?? '');
    await waitForView(stage.kube, { resource: pods, namespace: stage.namespace }, (view) => {
      const running = [...view.values()].filter((pod) => pod.status?.phase === 'Running' && isOurs(pod));
      return running.length === count ? running : undefined;
    });
    return names;
  }

  /** While the other nodes take no pods. */
  async function on<T>(node: string, start: () => Promise<T>): Promise<T> {
    const { items } = await stage.kube.list(nodes, {});
    const others = items.map(keyOf).filter((name) => name !== node);
    const close = (unschedulable: boolean) =>
      Promise.all(others.map((name) => stage.kube.mergePatch(nodes, { name }, { spec: { unschedulable } })));
    await close(true);
    try {
      return await start();
    } finally {
      await close(false);
    }
  }

  async function endsOf(names: readonly string[], timeoutMs: number) {
    const ended = await Promise.all(
      names.map((name) => waitUntilFinished(stage.kube, { namespace: stage.namespace, name }, { timeoutMs })),
    );
    return ended.map(({ metadata, status }) => ({
      name: metadata.name,
      phase: status?.phase,
      said: status?.final_output?.said,
      attempts: status?.history?.[0]?.attempts,
    }));
  }

  /** A kubelet makes its Node when it starts, and never again. */
  const makeNodeAgain = () => cluster('kubelet', 'restart', '2');

  it('a kubelet that restarts under running steps costs no attempt', async () => {
    const names = await startSlow('kubelet', 6);
    await cluster('kubelet', 'restart', '1');
    await cluster('kubelet', 'restart', '2');
    expect(await endsOf(names, 120_000)).toEqual(names.map((name) => ended(name, 1)));
  });

  it('steps of a node that is gone are tried again on another one', { timeout: 240_000 }, async () => {
    const kept = await on('node1', () => startSlow('node1', 3));
    const lost = await on('node2', () => startSlow('node2', 3));
    await cluster('node', 'stop', '2');
    expect(await endsOf([...kept, ...lost], 200_000)).toEqual([
      ...kept.map((name) => ended(name, 1)),
      ...lost.map((name) => ended(name, 2)),
    ]);
  });

  it('AMB-191 steps of a node that is deleted say so, and are tried again on another one where the state wants that', {
    timeout: 300_000,
  }, async () => {
    const end = Math.round(Date.now() / 1000) + takenWithinSeconds;
    const runs = [true, false].map((again) => ({
      name: `until-${again}`,
      spec: { workflow: `until-${again}`, input: { end } },
    }));
    const [again = '', never = ''] = await on('node2', () => startAll(runs));
    await stage.kube.delete(nodes, { name: 'node2' });
    try {
      expect(await endsOf([again], 240_000)).toEqual([ended(again, 2)]);
      const { status } = await waitUntilFinished(stage.kube, { namespace: stage.namespace, name: never });
      expect(status?.history?.[0]).toMatchObject({ status: 'failed', reason: 'NodeLost', attempts: 1 });
      expect(status?.history?.[0]?.message).toContain('node node2');
    } finally {
      await makeNodeAgain();
    }
  });
});

const ended = (name: string, attempts: number) => ({ name, phase: 'completed', said: 'begun\ndone\n', attempts });
