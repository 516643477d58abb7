import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import { chainOf, register, runExecutions } from '../bench-cluster.ts';
import { residentMiB } from '../machine.ts';
import type { Program } from '../program.ts';

const executions = 1_000;
const inFlight = 32;

/** Four states that write to the Blackboard and one that ends: none of them has a process. */
export function podlessWorkflow(): WorkflowSpec {
  return chainOf(5, (next) =>
    next === undefined
      ? { kind: 'System', command: 'finalize', transitions: [] }
      : { kind: 'System', command: 'update_context', env: { [next]: 'reached' }, transitions: [{ target: next }] },
  );
}

/** Executions a second, from the first create until a watch has shown the last as completed. */
export const podless: Program = {
  name: 'podless',
  title: `${executions.toLocaleString('en')} executions of five states without a process`,
  unit: 'executions/s',
  bar: { of: 'ours', atLeast: 80 },
  async measure(bench) {
    const { process } = await bench.controllers();
    await register(bench, 'podless', podlessWorkflow());
    await runExecutions(bench, 'podless', { count: 50, inFlight });
    const { seconds } = await runExecutions(bench, 'podless', { count: executions, inFlight });
    return {
      ours: executions / seconds,
      extra: { 'resident MiB afterwards': Math.round(await residentMiB(process.pid)) },
    };
  },
};

/** How often the status of one such execution was written, taken from the events that every write causes. */
export const podlessWrites: Program = {
  name: 'podless-writes',
  title: 'status writes of one execution of five states without a process',
  unit: 'writes',
  bar: { of: 'ours', atMost: 2 },
  async measure(bench) {
    await bench.controllers();
    await register(bench, 'podless', podlessWorkflow());
    const count = 200;
    const { statusWrites } = await runExecutions(bench, 'podless', { count, inFlight });
    return { ours: statusWrites / count };
  },
};
