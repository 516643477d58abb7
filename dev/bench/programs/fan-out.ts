import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import { barePodsAtOnce, image } from '../bare-pods.ts';
import { register, removePods, runExecutions } from '../bench-cluster.ts';
import type { Program } from '../program.ts';

const count = 20;

function parallel(): WorkflowSpec {
  const steps = Array.from({ length: count }, (_, i) => ({ name: `step${i + 1}`, image, command: ['true'] }));
  return {
    version: '1.0.0',
    initial_state: 'all',
    states: { all: { kind: 'ParallelContainerRun', steps, transitions: [] } },
  };
}

/** One parallel state of many steps beside as many bare pods at once. */
export const fanOut: Program = {
  name: 'fan-out',
  title: `one ParallelContainerRun of ${count} steps`,
  unit: 's',
  bar: { of: 'ratio', atMost: 1 },
  async measure(bench, say) {
    await bench.controllers();
    await register(bench, 'fan-out', parallel());
    await runExecutions(bench, 'fan-out', { count: 1 });
    await removePods(bench);
    const baseline = await barePodsAtOnce(bench.kube, bench.namespace, count);
    say(`bare pods ${baseline.toFixed(2)} s`);
    await removePods(bench);
    const { seconds } = await runExecutions(bench, 'fan-out', { count: 1 });
    return { ours: seconds, baseline };
  },
};
