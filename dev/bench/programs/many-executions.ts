import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { workflowExecutions } from '../../../test/cluster/harness/kinds.ts';
import { observe } from '../../../test/cluster/harness/observer.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';
import { startBenchApi } from '../api.ts';
import { type BenchCluster, register, startAll } from '../bench-cluster.ts';
import { residentMiB } from '../machine.ts';
import type { Program } from '../program.ts';
import { sharedMeasure } from '../shared.ts';
import { podlessWorkflow } from './podless.ts';

/** How large the measurement is. */
interface ManyExecutions {
  /** Executions that end; a quarter of them are children of another quarter. */
  readonly finished: number;
  readonly waiting: number;
  /** Size of the input of each that waits, as JSON. */
  readonly inputBytes: number;
  /** Milliseconds that both kinds of process are given to settle; none is asked to collect garbage. */
  readonly settlesMs: number;
}

interface Memory {
  /** MiB of the process that has followed them all. */
  readonly working: number;
  /** MiB of a new process that has just listed them. */
  readonly listing: number;
}

const inFlight = 32;

const parent: WorkflowSpec = {
  version: '1.0.0',
  initial_state: 'run',
  states: {
    run: { kind: 'Subworkflow', workflow_id: 'podless', transitions: [{ target: 'done' }] },
    done: { kind: 'System', command: 'finalize', transitions: [] },
  },
};

const waiting: WorkflowSpec = {
  version: '1.0.0',
  initial_state: 'ask',
  states: { ask: { kind: 'Human', prompt: 'Go on?', transitions: [] } },
};

/** Rows of a table as people send them, so many bytes of JSON in all. */
function inputOf(bytes: number) {
  const row = (index: number) => ({
    id: index,
    name: `customer ${index}`,
    active: index % 3 === 0,
    tags: ['new', 'eu'],
  });
  const rows: ReturnType<typeof row>[] = [];
  for (let size = 0; size < bytes; size += JSON.stringify(rows.at(-1)).length + 1) rows.push(row(rows.length));
  return { rows };
}

/** Resident memory of controllers and API beside many executions, of one tenant. */
export async function measureMany(
  bench: BenchCluster,
  load: ManyExecutions,
  say: (text: string) => void,
): Promise<{ readonly controllers: Memory; readonly api: Memory }> {
  const { process: worker } = await bench.controllers({ asInPod: true });
  const api = await startBenchApi(bench);
  try {
    await runThemAll(bench, load, say);
    await pause(load.settlesMs);
    const working = { controllers: await residentMiB(worker.pid), api: await residentMiB(api.pid) };
    await api.stop();
    await worker.stop();
    const listing = await freshMemory(bench, load);
    return {
      controllers: { working: working.controllers, listing: listing.controllers },
      api: { working: working.api, listing: listing.api },
    };
  } finally {
    await api.stop();
  }
}

async function freshMemory(
  bench: BenchCluster,
  { settlesMs }: ManyExecutions,
): Promise<{ readonly controllers: number; readonly api: number }> {
  const { process } = await bench.controllers({ asInPod: true });
  const api = await startBenchApi(bench);
  try {
    await pause(settlesMs);
    return { controllers: await residentMiB(process.pid), api: await residentMiB(api.pid) };
  } finally {
    await api.stop();
  }
}

async function runThemAll(bench: BenchCluster, load: ManyExecutions, say: (text: string) => void): Promise<void> {
  const { kube, namespace } = bench;
  await register(bench, 'podless', podlessWorkflow());
  await register(bench, 'parent', parent);
  await register(bench, 'waiting', waiting);
  const quarter = Math.floor(load.finished / 4);
  const observer = await observe(kube, { resource: workflowExecutions, namespace });
  const reached = (phase: string, count: number): Promise<true> =>
    observer.until((view) => (countOf(view.values(), phase) >= count ? true : undefined), {
      timeoutMs: 600_000,
      what: `${count} executions that are ${phase}`,
    });
  const input = inputOf(load.inputBytes);
  await startAll(bench, { workflow: 'waiting', count: load.waiting, inFlight, input });
  await reached('waiting', load.waiting);
  say(`${load.waiting} executions wait`);
  await startAll(bench, { workflow: 'parent', count: quarter, inFlight });
  await startAll(bench, { workflow: 'podless', count: load.finished - 2 * quarter, inFlight });
  await reached('completed', load.finished);
  await observer.stop();
  say(`${load.finished} executions have ended`);
}

function countOf(executions: Iterable<WorkflowExecution>, wanted: string): number {
  let count = 0;
  for (const { status } of executions) if (status?.phase === wanted) count += 1;
  return count;
}

const full: ManyExecutions = { finished: 10_000, waiting: 1_000, inputBytes: 64 * 1024, settlesMs: 10_000 };
const measured = sharedMeasure((bench, say) => measureMany(bench, full, say));
const extraOf = ({ working, listing }: Memory) => ({
  'MiB after running them': Math.round(working),
  'MiB after listing them': Math.round(listing),
});

/** The larger of two: the process that ran them all, and a new one that has just listed them. */
export const manyControllers: Program = rowOf('many-controllers', 'controllers', 350);
/** As for the controllers. */
export const manyApi: Program = rowOf('many-api', 'api', 250);

function rowOf(name: string, part: 'controllers' | 'api', atMost: number): Program {
  const measure = measured(name);
  const who = part === 'api' ? 'API' : 'controller';
  return {
    name,
    title: `${who} memory with ${full.finished.toLocaleString('en')} finished executions, a quarter of them children, and ${full.waiting.toLocaleString('en')} waiting with inputs of ${full.inputBytes / 1024} KiB`,
    unit: 'MiB',
    bar: { of: 'ours', atMost },
    runs: 1,
    async measure(bench, say) {
      const memory = (await measure(bench, say))[part];
      return { ours: Math.max(memory.working, memory.listing), extra: extraOf(memory) };
    },
  };
}
