import type { WorkflowExecutionSpec } from '../../../crds/schema/workflow-execution.ts';
import { isFinished, startExecution } from '../../../test/cluster/harness/executions.ts';
import { workflowExecutions } from '../../../test/cluster/harness/kinds.ts';
import { observe } from '../../../test/cluster/harness/observer.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';
import { dearestExecutions } from '../../../test/hostile/support/dearest.ts';
import { type BenchCluster, register } from '../bench-cluster.ts';
import type { Program } from '../program.ts';
import { sharedMeasure } from '../shared.ts';
import { median, percentile, rounded } from '../statistics.ts';
import { podlessWorkflow } from './podless.ts';

/** How large the measurement is. */
interface BesideWorst {
  /** Executions of the hostile tenant, for each of its workflows. */
  readonly executions: number;
  /** How long the other tenant is measured alone, and beside at most: until the last of the hostile ones has ended. */
  readonly seconds: number;
  /** Executions of the other tenant that must have been beside where the hostile ones end early. */
  readonly least: number;
}

/** Milliseconds from each create until a watch has shown the execution as completed. */
interface Latencies {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
}

/** Between two executions of the tenant that is measured, in milliseconds. */
const restMs = 50;
/** Executions between two looks at the hostile ones, each of which reads an object of 1 MiB. */
const askedEach = 20;
/** Creates under way at once: each has an input of 1 MiB. */
const inFlight = 4;

/** Executions without a process, one after the other, alone and beside a tenant that runs the dearest legal ones. */
export async function measureBesideWorst(
  bench: BenchCluster,
  { executions, seconds, least }: BesideWorst,
  say: (text: string) => void,
): Promise<Latencies> {
  const [other = ''] = await bench.furtherTenants(1);
  const hostile = { ...bench, namespace: other };
  const { process: first } = await bench.controllers();
  await register(bench, 'podless', podlessWorkflow());
  for (const { workflow } of dearestExecutions()) await register(hostile, workflow.metadata.name, workflow.spec);
  await latencies(bench, { prefix: 'warm', seconds: Math.min(seconds, 5) });
  const alone = await latencies(bench, { prefix: 'alone', seconds });
  say(`alone: p99 ${percentile(alone, 0.99).toFixed(0)} ms of ${alone.length}`);
  await first.stop();
  // All of them are due in the moment in which the controllers begin.
  const last = await startHostile(hostile, executions);
  await bench.controllers();
  const isOver = async (): Promise<boolean> =>
    isFinished(await bench.kube.get(workflowExecutions, { namespace: other, name: last }));
  const beside = await latencies(bench, { prefix: 'beside', seconds, isOver });
  // Few because each took long are a result; few because the hostile ones had ended are none.
  if (beside.length < least && (await isOver())) {
    throw new Error(`only ${beside.length} executions were beside the hostile ones: start more of those`);
  }
  return { alone, beside };
}

interface Span {
  /** Prefix of the executions' names. */
  readonly prefix: string;
  readonly seconds: number;
  /** Asked now and then: whether it ends before. */
  readonly isOver?: () => Promise<boolean>;
}

async function latencies(
  { kube, namespace }: BenchCluster,
  { prefix, seconds, isOver = async () => false }: Span,
): Promise<number[]> {
  const observer = await observe(kube, { resource: workflowExecutions, namespace });
  const taken: number[] = [];
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    const name = `${prefix}-${taken.length}`;
    const started = performance.now();
    await startExecution(kube, { namespace, name }, { workflow: 'podless', ttl_seconds_after_finished: 86_400 });
    await observer.until((view) =>
      view.get(`${namespace}/${name}`)?.status?.phase === 'completed' ? true : undefined,
    );
    taken.push(performance.now() - started);
    if (taken.length % askedEach === 0 && (await isOver())) break;
    await pause(restMs);
  }
  await observer.stop();
  return taken;
}

/** Starts so many of each workflow, in turn; answers the name of the last. */
async function startHostile({ kube, namespace }: BenchCluster, each: number): Promise<string> {
  const kinds = dearestExecutions().map(({ workflow, input }) => ({
    workflow: workflow.metadata.name,
    input: { a: JSON.parse(input) } as WorkflowExecutionSpec['input'],
  }));
  const wanted = Array.from({ length: each }, (_, index) =>
    kinds.map((spec) => ({ name: `${spec.workflow}-${index}`, spec })),
  );
  const queue = wanted.flat();
  let last = '';
  const create = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      last = next.name;
      await startExecution(kube, { namespace, name: next.name }, next.spec);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, create));
  return last;
}

/** The API server keeps several versions of each, some 20 MiB of memory a piece: more of them would measure that. */
const full: BesideWorst = { executions: 12, seconds: 30, least: 50 };
const measured = sharedMeasure((bench, say) => measureBesideWorst(bench, full, say));
const [ofRatio, ofTime] = [measured('beside-worst'), measured('beside-worst-time')];

/** p99 beside the worst objects by p99 alone. */
export const besideWorst: Program = {
  name: 'beside-worst',
  title: `99 % of executions without a process while another tenant runs ${full.executions * dearestExecutions().length} of the dearest legal ones; beside them the same alone`,
  unit: 'ms',
  bar: { of: 'ratio', atMost: 5 },
  async measure(bench, say) {
    const { alone, beside } = await ofRatio(bench, say);
    return {
      ours: percentile(beside, 0.99),
      baseline: percentile(alone, 0.99),
      extra: {
        'executions alone': alone.length,
        'executions beside': beside.length,
        'ms of half of them, alone': rounded(median(alone)),
        'ms of half of them, beside': rounded(median(beside)),
        'ms of the slowest, beside': rounded(Math.max(...beside)),
      },
    };
  },
};

export const besideWorstTime: Program = {
  name: 'beside-worst-time',
  title: 'the same, as a time',
  unit: 'ms',
  bar: { of: 'ours', atMost: 1_000 },
  async measure(bench, say) {
    return { ours: percentile((await ofTime(bench, say)).beside, 0.99) };
  },
};
