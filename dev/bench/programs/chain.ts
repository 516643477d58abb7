import { barePodsInARow } from '../bare-pods.ts';
import { chainOf, register, runExecutions, trueState } from '../bench-cluster.ts';
import { besideBarePods } from '../beside-bare-pods.ts';
import type { Program } from '../program.ts';

const length = 10;

/** Ten steps in a row beside ten bare pods in a row. */
export const chain: Program = {
  name: 'chain',
  title: `${length} ContainerRun states in a row of \`true\``,
  unit: 's',
  bar: { of: 'ratio', atMost: 0.45 },
  async measure(bench, say) {
    const { process: controllers } = await bench.controllers();
    await register(bench, 'chain', chainOf(length, trueState));
    await runExecutions(bench, 'chain', { count: 1 });
    const comparison = {
      pods: length,
      controllers,
      bare: () => barePodsInARow(bench.kube, bench.namespace, length),
      ours: async () => (await runExecutions(bench, 'chain', { count: 1 })).seconds,
    };
    return besideBarePods(bench, comparison, say);
  },
};
