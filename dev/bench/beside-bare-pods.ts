import type { Controllers } from '../../test/cluster/harness/controllers.ts';
import { type BenchCluster, removePods } from './bench-cluster.ts';
import { withCpuUse } from './machine.ts';
import type { Sample } from './program.ts';

/** The same work twice: by bare pods and by workflows. Both give the seconds they took. */
interface PodComparison {
  readonly pods: number;
  readonly controllers: Controllers;
  readonly bare: () => Promise<number>;
  readonly ours: () => Promise<number>;
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** Runs one after the other, each on a machine whose nodes are done with the pods of the part before. */
export async function besideBarePods(
  bench: BenchCluster,
  { pods, controllers, bare, ours }: PodComparison,
  say: (text: string) => void,
): Promise<Sample> {
  await removePods(bench);
  const baseline = await withCpuUse(bare);
  say(`bare pods ${baseline.result.toFixed(2)} s`);
  await removePods(bench);
  const measured = await withCpuUse(ours, controllers.pid);
  return {
    ours: measured.result,
    baseline: baseline.result,
    extra: {
      'CPU-seconds of the machine a pod, bare': rounded(baseline.machineSeconds / pods),
      'CPU-seconds of the machine a pod, ours': rounded(measured.machineSeconds / pods),
      'CPU-seconds of the controllers a pod': rounded(measured.processSeconds / pods),
    },
  };
}
