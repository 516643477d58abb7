import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StateOf } from '../../crds/schema/state.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import { type KubeClient, namespaces, pods } from '../../lib/kube/index.ts';
import { writeAccountKubeconfig } from '../../test/cluster/harness/account-kubeconfig.ts';
import { type ApiProxy, type Identity, startApiProxy } from '../../test/cluster/harness/api-proxy.ts';
import type { Cluster } from '../../test/cluster/harness/cluster.ts';
import { type Controllers, startControllers } from '../../test/cluster/harness/controllers.ts';
import { ensureWorkflow, startExecution } from '../../test/cluster/harness/executions.ts';
import { controllersIdentity } from '../../test/cluster/harness/installed.ts';
import { workflowExecutions, workflows } from '../../test/cluster/harness/kinds.ts';
import { observe } from '../../test/cluster/harness/observer.ts';
import { buildDir } from '../../test/cluster/harness/project.ts';
import { makeTestNamespace, type TestNamespace } from '../../test/cluster/harness/test-namespace.ts';
import { waitForNone, waitForObject } from '../../test/cluster/harness/wait.ts';
import { image } from './bare-pods.ts';
import { environmentOfPod } from './pod-environment.ts';

/** Memory limits of the chart's pods, in MiB (charts/windlass/values.yaml); three quarters of it are heap. */
export const chartLimits = { controllers: 1_024, api: 768, gateway: 768, relay: 1_024 } as const;

/** Tools of a program. One namespace for each run of each program. */
export interface BenchCluster {
  readonly kube: KubeClient;
  readonly namespace: string;
  /** How long rows about quiet time look. */
  readonly quietSeconds: number;
  /** Makes further tenants, which go with the first; answers their namespaces. */
  furtherTenants(count: number): Promise<string[]>;
  /** Starts controllers: behind a proxy that counts, or not; holding a Lease, as installed ones do, or not. */
  controllers(options?: ControllersOptions): Promise<{ process: Controllers; proxy?: ApiProxy }>;
}

interface ControllersOptions {
  readonly counted?: boolean;
  /** With the heap and the environment of the pod that the chart makes, instead of what Node takes by itself. */
  readonly asInPod?: boolean;
  /** An existing proxy. */
  readonly through?: ApiProxy;
  readonly elected?: boolean;
  /** Further settings, WINDLASS_…. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Gives `work` a namespace, and afterwards stops what it started and waits until the machine is quiet again. */
export async function withBenchCluster<R>(
  cluster: Cluster,
  purpose: string,
  work: (bench: BenchCluster) => Promise<R>,
  { quietSeconds = 120 }: { readonly quietSeconds?: number } = {},
): Promise<R> {
  const { kube } = cluster;
  const namespace = await makeTestNamespace(kube, `bench-${purpose}`);
  const all = [namespace];
  const stops: (() => Promise<void>)[] = [];
  try {
    return await work({
      kube,
      namespace: namespace.name,
      quietSeconds,
      async furtherTenants(count) {
        const further: TestNamespace[] = [];
        while (further.length < count) further.push(await makeTestNamespace(kube, `bench-${purpose}`));
        all.push(...further);
        return further.map(({ name }) => name);
      },
      async controllers({ counted = false, elected = false, asInPod = false, through, env = {} } = {}) {
        const as = await controllersIdentity(kube);
        const proxy = through ?? (counted ? await countingProxy(cluster, as) : undefined);
        if (proxy !== undefined && through === undefined) stops.unshift(() => proxy.close());
        const process = await startControllers({
          kubeconfig: proxy?.kubeconfig ?? (await kubeconfigOfControllers(cluster, as)),
          name: `bench-${purpose}`,
          env: {
            WINDLASS_LOG_LEVEL: 'warn',
            ...(elected ? electionIn(namespace.name, as) : {}),
            ...(asInPod ? await environmentOfPod(chartLimits.controllers) : {}),
            ...env,
          },
        });
        stops.unshift(() => process.stop());
        // From source it takes half a minute on a machine that does much else.
        await process.ready(120_000);
        return { process, proxy };
      },
    });
  } finally {
    // The controllers remove finalizers, so they go after the objects.
    await Promise.all(all.map((one) => one.remove()));
    await Promise.all(
      all.map(({ name }) =>
        waitForNone(kube, { resource: namespaces, fieldSelector: `metadata.name=${name}` }, { timeoutMs: 600_000 }),
      ),
    );
    for (const stop of stops) await stop();
  }
}

/** The chart's role allows its own Lease and no other. */
const electionIn = (namespace: string, as: Identity | undefined): Record<string, string> => ({
  WINDLASS_LEADER_ELECT: 'true',
  ...(as === undefined ? { WINDLASS_LEASE_NAMESPACE: namespace, WINDLASS_LEASE_NAME: 'bench' } : {}),
});

async function countingProxy({ kubeconfig }: Cluster, as: Identity | undefined): Promise<ApiProxy> {
  await mkdir(buildDir, { recursive: true });
  return startApiProxy({ upstream: kubeconfig, kubeconfig: join(buildDir, 'bench-proxy.kubeconfig'), as });
}

/** Where the chart is installed, its admission policies let only its own account write the fields of controllers. */
const kubeconfigOfControllers = ({ kubeconfig }: Cluster, as: Identity | undefined): string | Promise<string> =>
  as === undefined ? kubeconfig : writeAccountKubeconfig(kubeconfig, 'windlass-controllers', 'bench-controllers');

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
  // Controllers that have just begun read all of the cluster first.
  await waitForObject(kube, { resource: workflows, namespace, name }, ready, { timeoutMs: 120_000 });
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

interface Batch {
  readonly workflow: string;
  readonly count: number;
  /** Creates under way at once. @default all */
  readonly inFlight?: number;
  /** Number of the first name. @default 0 */
  readonly from?: number;
  readonly input?: WorkflowExecutionSpec['input'];
}

/** Starts executions named after their workflow, at most `inFlight` creates at a time; answers when all are there. */
export async function startAll(
  { kube, namespace }: Pick<BenchCluster, 'kube' | 'namespace'>,
  { workflow, count, inFlight = count, from = 0, input }: Batch,
): Promise<void> {
  let next = 0;
  const create = async (): Promise<void> => {
    while (next < count) {
      const ref = { name: `${workflow}-${from + next++}`, namespace };
      await startExecution(kube, ref, { workflow, input, ttl_seconds_after_finished: 86_400 });
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, create));
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
  const completed = new Set<string>();
  await Promise.all([
    startAll({ kube, namespace }, { workflow, count, inFlight, from: before }),
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
