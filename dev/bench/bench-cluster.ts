import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StateOf } from '../../crds/schema/state.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import { type KubeClient, namespaces, pods } from '../../lib/kube/index.ts';
import { type ApiProxy, startApiProxy } from '../../test/cluster/harness/api-proxy.ts';
import type { Cluster } from '../../test/cluster/harness/cluster.ts';
import { type Controllers, startControllers } from '../../test/cluster/harness/controllers.ts';
import { ensureWorkflow } from '../../test/cluster/harness/executions.ts';
import { workflowExecutions, workflows } from '../../test/cluster/harness/kinds.ts';
import { observe } from '../../test/cluster/harness/observer.ts';
import { buildDir } from '../../test/cluster/harness/project.ts';
import { makeTestNamespace } from '../../test/cluster/harness/test-namespace.ts';
import { waitForNone, waitForObject } from '../../test/cluster/harness/wait.ts';
import { image } from './bare-pods.ts';

/** What a program measures with. One namespace for each run of each program. */
export interface BenchCluster {
  readonly kube: KubeClient;
  readonly namespace: string;
  /** Starts controllers: behind a proxy that counts, or not; holding a Lease, as installed ones do, or not. */
  controllers(options?: ControllersOptions): Promise<{ process: Controllers; proxy?: ApiProxy }>;
}

interface ControllersOptions {
  readonly counted?: boolean;
  readonly elected?: boolean;
}

/** Gives `work` a namespace, and afterwards stops what it started and waits until the machine is quiet again. */
export async function withBenchCluster<R>(
  cluster: Cluster,
  purpose: string,
  work: (bench: BenchCluster) => Promise<R>,
): Promise<R> {
  const { kube } = cluster;
  const namespace = await makeTestNamespace(kube, `bench-${purpose}`);
  const stops: (() => Promise<void>)[] = [];
  try {
    return await work({
      kube,
      namespace: namespace.name,
      async controllers({ counted = false, elected = false } = {}) {
        const proxy = counted ? await countingProxy(cluster) : undefined;
        if (proxy !== undefined) stops.unshift(() => proxy.close());
        const process = await startControllers({
          kubeconfig: proxy?.kubeconfig ?? cluster.kubeconfig,
          name: `bench-${purpose}`,
          env: { WINDLASS_LOG_LEVEL: 'warn', ...(elected ? electionIn(namespace.name) : {}) },
        });
        stops.unshift(() => process.stop());
        await process.ready();
        return { process, proxy };
      },
    });
  } finally {
    // The controllers remove finalizers, so they go after the objects.
    await namespace.remove();
    const selection = { fieldSelector: `metadata.name=${namespace.name}` };
    await waitForNone(kube, { resource: namespaces, ...selection }, { timeoutMs: 600_000 });
    for (const stop of stops) await stop();
  }
}

const electionIn = (namespace: string): Record<string, string> => ({
  WINDLASS_LEADER_ELECT: 'true',
  WINDLASS_LEASE_NAMESPACE: namespace,
  WINDLASS_LEASE_NAME: 'bench',
});

async function countingProxy(cluster: Cluster): Promise<ApiProxy> {
  await mkdir(buildDir, { recursive: true });
  return startApiProxy({ upstream: cluster.kubeconfig, kubeconfig: join(buildDir, 'bench-proxy.kubeconfig') });
}

/** Registers a workflow in the run's namespace and waits until it is Ready. */
export async function register({ kube, namespace }: BenchCluster, name: string, spec: WorkflowSpec): Promise<void> {
  const workflow: Workflow = {
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name, namespace },
    spec,
  };
  await ensureWorkflow(kube, workflow);
  const ready = ({ status }: Workflow): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
  await waitForObject(kube, { resource: workflows, namespace, name }, ready, { timeoutMs: 30_000 });
}

/** A state that runs `true`. */
export function trueState(next?: string): StateOf<'ContainerRun'> {
  return { kind: 'ContainerRun', image, command: ['true'], transitions: next === undefined ? [] : [{ target: next }] };
}

/** States named s1, s2 … in a row. */
export function chainOf(length: number, state: (next?: string) => WorkflowSpec['states'][string]): WorkflowSpec {
  const states: WorkflowSpec['states'] = {};
  for (let i = 1; i <= length; i++) states[`s${i}`] = state(i === length ? undefined : `s${i + 1}`);
  return { version: '1.0.0', initial_state: 's1', states };
}

interface Ran {
  readonly seconds: number;
  /** MODIFIED events of the executions: every write of their status was one. */
  readonly statusWrites: number;
}

/** Starts executions, at most `inFlight` creates at a time, and waits until a watch has shown all as completed. */
export async function runExecutions(
  { kube, namespace }: BenchCluster,
  workflow: string,
  { count, inFlight = count }: { readonly count: number; readonly inFlight?: number },
): Promise<Ran> {
  const observer = await observe(kube, { resource: workflowExecutions, namespace });
  const before = observer.view.size;
  const started = performance.now();
  let next = 0;
  const create = async (): Promise<void> => {
    while (next < count) {
      const metadata = { name: `${workflow}-${before + next++}`, namespace };
      const spec = { workflow, ttl_seconds_after_finished: 86_400 };
      await kube.create(workflowExecutions, {
        apiVersion: 'windlass.dev/v1',
        kind: 'WorkflowExecution',
        metadata,
        spec,
      });
    }
  };
  const completed = new Set<string>();
  await Promise.all([
    ...Array.from({ length: Math.min(inFlight, count) }, create),
    observer.until(
      (_view, changed) => {
        if (changed?.status?.phase === 'completed') completed.add(changed.metadata.name);
        if (changed?.status?.phase === 'failed') {
          throw new Error(`execution ${changed.metadata.name} failed: ${changed.status.reason}`);
        }
        return completed.size >= count ? true : undefined;
      },
      { timeoutMs: 600_000, what: `${count} executions of ${workflow}` },
    ),
  ]);
  const seconds = (performance.now() - started) / 1000;
  const statusWrites = [...observer.changes.values()].reduce((sum, changes) => sum + changes, 0);
  await observer.stop();
  return { seconds, statusWrites };
}

/** Deletes the pods of a run and waits until the kubelets are done with them, so that the next one starts on rest. */
export async function removePods({ kube, namespace }: BenchCluster): Promise<void> {
  await kube.deleteCollection(pods, { namespace }, { gracePeriodSeconds: 0 });
  await waitForNone(kube, { resource: pods, namespace }, { timeoutMs: 120_000 });
}
