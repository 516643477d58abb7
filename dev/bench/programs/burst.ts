import { barePodsAtOnce } from '../bare-pods.ts';
import { chainOf, register, runExecutions, trueState } from '../bench-cluster.ts';
import { besideBarePods } from '../beside-bare-pods.ts';
import type { Program } from '../program.ts';

const count = 50;

/** Many small workflows at once beside as many bare pods at once. */
export const burst: Program = {
  name: 'burst',
  title: `${count} one-step workflows at once`,
  unit: 's',
  bar: { of: 'ratio', atMost: 1.05 },
  async measure(bench, say) {
    const { process: controllers } = await bench.controllers();
    await register(bench, 'one-step', chainOf(1, trueState));
    await runExecutions(bench, 'one-step', { count: 2 });
    const comparison = {
      pods: count,
      controllers,
      bare: () => barePodsAtOnce(bench.kube, bench.namespace, count),
      ours: async () => (await runExecutions(bench, 'one-step', { count })).seconds,
    };
    return besideBarePods(bench, comparison, say);
  },
};
