import { pause } from '../../../test/cluster/harness/wait.ts';
import { register, runExecutions } from '../bench-cluster.ts';
import { residentMiB } from '../machine.ts';
import type { Program } from '../program.ts';
import { podlessWorkflow } from './podless.ts';

const executions = 5_000;

/**
 * The larger of two: the process that ran them all, and a new one that has just listed them. Both are given ten seconds
 * to settle; neither is asked to collect garbage.
 */
export const memory: Program = {
  name: 'memory',
  title: `controller memory with ${executions.toLocaleString('en')} finished executions`,
  unit: 'MiB',
  bar: { of: 'ours', atMost: 300 },
  runs: 1,
  async measure(bench, say) {
    const { process: worker } = await bench.controllers({ asInPod: true });
    await register(bench, 'podless', podlessWorkflow());
    await runExecutions(bench, 'podless', { count: executions, inFlight: 32 });
    await pause(10_000);
    const working = await residentMiB(worker.pid);
    say(`${working.toFixed(0)} MiB after running them`);
    await worker.stop();
    const { process: fresh } = await bench.controllers({ asInPod: true });
    await pause(10_000);
    const listing = await residentMiB(fresh.pid);
    return {
      ours: Math.max(working, listing),
      extra: { 'MiB after running them': Math.round(working), 'MiB after listing them': Math.round(listing) },
    };
  },
};
