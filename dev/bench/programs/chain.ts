import { chainOf, register, removePods, runExecutions, trueState } from '../bench-cluster.ts';
import { barePodsInARow } from '../bare-pods.ts';
import { machineCpuSeconds } from '../machine.ts';
import type { Program } from '../program.ts';

const length = 10;

/** Ten steps in a row beside ten bare pods in a row. */
export const chain: Program = {
  name: 'chain',
  title: `${length} ContainerRun states in a row of \`true\``,
  unit: 's',
  bar: { of: 'ratio', atMost: 0.45 },
  async measure(bench, say) {
    await bench.controllers();
    await register(bench, 'chain', chainOf(length, trueState));
    await runExecutions(bench, 'chain', { count: 1 });
    await removePods(bench);
    const cpu = await machineCpuSeconds();
    const baseline = await barePodsInARow(bench.kube, bench.namespace, length);
    const between = await machineCpuSeconds();
    say(`bare pods ${baseline.toFixed(2)} s`);
    await removePods(bench);
    const cpuOurs = await machineCpuSeconds();
    const { seconds } = await runExecutions(bench, 'chain', { count: 1 });
    const after = await machineCpuSeconds();
    const extra = {
      'cpu-seconds a pod, bare': Math.round((between - cpu) * (100 / length)) / 100,
      'cpu-seconds a pod, ours': Math.round((after - cpuOurs) * (100 / length)) / 100,
    };
    return { ours: seconds, baseline, extra };
  },
};
