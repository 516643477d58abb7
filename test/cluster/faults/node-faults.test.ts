import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, type Node, nodes, type Pod, pods } from '../../../lib/kube/index.ts';
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

/** Only the native cluster's nodes can be broken at will. */
describe.skipIf(!isNativeCluster())('steps survive what happens to their nodes', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage('nodes');
    await stage.controllers(await stage.proxy('api'), { WINDLASS_STEP_NODE_LOST_SECONDS: '5' });
    await ensureWorkflow(stage.kube, { ...slow, metadata: { ...slow.metadata, namespace: stage.namespace } });
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
    const names = Array.from({ length: count }, (_, i) => `${prefix}-${i}-${randomUUID().slice(0, 8)}`);
    for (const name of names) {
      await startExecution(stage.kube, { namespace: stage.namespace, name }, { workflow: 'slow' });
    }
    const isOurs = ({ metadata }: Pod): boolean => names.includes(metadata.labels?.['windlass.dev/execution'] ?? '');
    await waitForView(stage.kube, { resource: pods, namespace: stage.namespace }, (view) => {
      const running = [...view.values()].filter((pod) => pod.status?.phase === 'Running' && isOurs(pod));
      return running.length === count ? running : undefined;
    });
    return names;
  }

  /** The same, while the other nodes take no pods. */
  async function startSlowOn(node: string, count: number): Promise<string[]> {
    const { items } = await stage.kube.list(nodes, {});
    const others = items.map(keyOf).filter((name) => name !== node);
    const close = (unschedulable: boolean) =>
      Promise.all(others.map((name) => stage.kube.mergePatch(nodes, { name }, { spec: { unschedulable } })));
    await close(true);
    try {
      return await startSlow(node, count);
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

  it('a kubelet that restarts under running steps costs no attempt', async () => {
    const names = await startSlow('kubelet', 6);
    await cluster('kubelet', 'restart', '1');
    await cluster('kubelet', 'restart', '2');
    expect(await endsOf(names, 120_000)).toEqual(names.map((name) => ended(name, 1)));
  });

  it('steps of a node that is gone are tried again on another one', { timeout: 240_000 }, async () => {
    const kept = await startSlowOn('node1', 3);
    const lost = await startSlowOn('node2', 3);
    await cluster('node', 'stop', '2');
    expect(await endsOf([...kept, ...lost], 200_000)).toEqual([
      ...kept.map((name) => ended(name, 1)),
      ...lost.map((name) => ended(name, 2)),
    ]);
  });
});

const ended = (name: string, attempts: number) => ({ name, phase: 'completed', said: 'begun\ndone\n', attempts });
