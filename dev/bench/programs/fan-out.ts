import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import { barePodsAtOnce, image } from '../bare-pods.ts';
import { register, runExecutions } from '../bench-cluster.ts';
import { besideBarePods } from '../beside-bare-pods.ts';
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
    const { process: controllers } = await bench.controllers();
    await register(bench, 'fan-out', parallel());
    await runExecutions(bench, 'fan-out', { count: 1 });
    const comparison = {
      pods: count,
      controllers,
      bare: () => barePodsAtOnce(bench.kube, bench.namespace, count),
      ours: async () => (await runExecutions(bench, 'fan-out', { count: 1 })).seconds,
    };
    return besideBarePods(bench, comparison, say);
  },
};
