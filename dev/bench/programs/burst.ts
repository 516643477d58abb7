import { chainOf, register, removePods, runExecutions, trueState } from '../bench-cluster.ts';
import { barePodsAtOnce } from '../bare-pods.ts';
import type { Program } from '../program.ts';

const count = 50;

/** Many small workflows at once beside as many bare pods at once. */
export const burst: Program = {
  name: 'burst',
  title: `${count} one-step workflows at once`,
  unit: 's',
  bar: { of: 'ratio', atMost: 1.05 },
  async measure(bench, say) {
    await bench.controllers();
    await register(bench, 'one-step', chainOf(1, trueState));
    await runExecutions(bench, 'one-step', { count: 2 });
    await removePods(bench);
    const baseline = await barePodsAtOnce(bench.kube, bench.namespace, count);
    say(`bare pods ${baseline.toFixed(2)} s`);
    await removePods(bench);
    const { seconds } = await runExecutions(bench, 'one-step', { count });
    return { ours: seconds, baseline };
  },
};
