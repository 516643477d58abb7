import { kubeconfigPath } from '../../../test/cluster/harness/cluster.ts';
import { workflowExecutions } from '../../../test/cluster/harness/kinds.ts';
import { waitForNone } from '../../../test/cluster/harness/wait.ts';
import { type BenchCluster, removePods } from '../bench-cluster.ts';
import { residentMiB, withCpuUse } from '../machine.ts';
import { type ArgoController, type ArgoSettings, loadExecutor, prepareNamespace, startArgo } from './controller.ts';
import { argoWorkflows, installDefinitions } from './definitions.ts';
import { runArgo, withoutPod } from './workflows.ts';

/** The same work by both. Each function gives the seconds that it took. */
interface ArgoComparison {
  readonly ours: () => Promise<number>;
  readonly theirs: () => Promise<number>;
}

/** One side of a comparison. */
export interface ArgoSide {
  readonly seconds: number;
  readonly controllerSeconds: number;
  readonly machineSeconds: number;
  /** Resident memory of the controllers afterwards. */
  readonly memoryMiB: number;
}

export interface BesideArgo {
  readonly ours: ArgoSide;
  readonly quick: ArgoSide;
  readonly defaults: ArgoSide;
}

/**
 * Windlass, then Argo with quick settings, then Argo with its defaults, each on nodes that are done with the pods of the
 * part before. Both controllers are there all the time, as on a cluster that has both.
 */
export async function besideArgo(
  bench: BenchCluster,
  ourPid: number,
  { ours, theirs }: ArgoComparison,
  say: (text: string) => void,
): Promise<BesideArgo> {
  const executorImage = await loadExecutor();
  const removeDefinitions = await installDefinitions(bench.kube);
  try {
    await prepareNamespace(bench.kube, bench.namespace);
    const argo = async (settings: ArgoSettings): Promise<ArgoSide> => {
      const controller = await startArgo({ ...bench, kubeconfig: kubeconfigPath(), executorImage, settings });
      try {
        return await controller.during(() => useOfArgo(bench, controller, theirs));
      } finally {
        await controller.stop();
      }
    };
    const quick = await argo('quick');
    say(`Argo with quick settings ${quick.seconds.toFixed(2)} s`);
    const mine = await useOf(bench, ourPid, ours);
    say(`Windlass ${mine.seconds.toFixed(2)} s`);
    const defaults = await argo('defaults');
    say(`Argo with its defaults ${defaults.seconds.toFixed(2)} s`);
    return { ours: mine, quick, defaults };
  } finally {
    await removeDefinitions();
  }
}

/** The first workflow of a process fills its caches, and does not count. */
async function useOfArgo(bench: BenchCluster, { pid }: ArgoController, work: () => Promise<number>): Promise<ArgoSide> {
  await runArgo(bench, withoutPod);
  return useOf(bench, pid, work);
}

async function useOf(bench: BenchCluster, pid: number, work: () => Promise<number>): Promise<ArgoSide> {
  await clear(bench);
  const { result, machineSeconds, processSeconds } = await withCpuUse(work, pid);
  return { seconds: result, machineSeconds, controllerSeconds: processSeconds, memoryMiB: await residentMiB(pid) };
}

/** Neither side may work on what the other has left. */
async function clear(bench: BenchCluster): Promise<void> {
  const { kube, namespace } = bench;
  for (const resource of [argoWorkflows, workflowExecutions]) {
    await kube.deleteCollection(resource, { namespace });
    await waitForNone(kube, { resource, namespace }, { timeoutMs: 120_000 });
  }
  await removePods(bench);
}
