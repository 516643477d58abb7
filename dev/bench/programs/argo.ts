import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import { besideArgo, type BesideArgo, type ArgoSide } from '../argo/beside-argo.ts';
import { chainOfSteps, fanOutAndJoin, oneStep, passed, runArgo, withoutPod } from '../argo/workflows.ts';
import { image } from '../bare-pods.ts';
import { type BenchCluster, chainOf, register, runExecutions, trueState } from '../bench-cluster.ts';
import type { Program, Sample } from '../program.ts';
import { sharedMeasure } from '../shared.ts';
import { rounded } from '../statistics.ts';

interface Case {
  readonly spec: WorkflowSpec;
  readonly argo: Parameters<typeof runArgo>[1];
  /** Workflows started at once. */
  readonly count?: number;
}

type Say = (text: string) => void;

async function measureCase(bench: BenchCluster, { spec, argo, count = 1 }: Case, say: Say): Promise<BesideArgo> {
  const { process } = await bench.controllers({ asInPod: true });
  await register(bench, 'ours', spec);
  await runExecutions(bench, 'ours', { count: 1 });
  const comparison = {
    ours: async () => (await runExecutions(bench, 'ours', { count })).seconds,
    theirs: () => runArgo(bench, argo, count),
  };
  return besideArgo(bench, process.pid, comparison, say);
}

const sampleOf = ({ ours, quick, defaults }: BesideArgo, figure: (use: ArgoSide) => number): Sample => ({
  ours: figure(ours),
  baseline: figure(quick),
  extra: { 'Argo with its defaults': rounded(figure(defaults)) },
});

const seconds = ({ seconds: took }: ArgoSide): number => took;

/** A row of seconds. All of them are measured only where they are asked for. */
const timed = (name: string, title: string, one: Case): Program => ({
  name: `argo-${name}`,
  title: `${title}; beside it Argo Workflows`,
  unit: 's',
  bar: { of: 'ratio', atMost: 1 },
  onRequest: true,
  measure: async (bench, say) => sampleOf(await measureCase(bench, one, say), seconds),
});

const width = 20;

const fanOut: WorkflowSpec = {
  version: '1.0.0',
  initial_state: 'all',
  states: {
    all: {
      kind: 'ParallelContainerRun',
      steps: Array.from({ length: width }, (_, i) => ({ name: `step${i + 1}`, image, command: ['true'] })),
      transitions: [{ target: 'join' }],
    },
    join: trueState(),
  },
};

const podless: WorkflowSpec = {
  version: '1.0.0',
  initial_state: 'done',
  states: { done: { kind: 'System', command: 'finalize', transitions: [] } },
};

const bytes = 100_000;
const write = `head -c ${bytes} /dev/zero | tr '\\0' x`;
const read = `test \${#TEXT} = ${bytes}`;

const passing: WorkflowSpec = {
  version: '1.0.0',
  initial_state: 'write',
  states: {
    write: { kind: 'ContainerRun', image, command: ['sh', '-c', write], transitions: [{ target: 'read' }] },
    read: {
      kind: 'ContainerRun',
      image,
      command: ['sh', '-c', read],
      env: { TEXT: '{{write.output.stdout}}' },
      transitions: [],
    },
  },
};

const count = 50;
const burst = sharedMeasure((bench, say) =>
  measureCase(bench, { spec: chainOf(1, trueState), argo: oneStep, count }, say),
);
const [ofTime, ofCpu, ofMemory] = [burst('argo-burst'), burst('argo-cpu'), burst('argo-memory')];

/** In the order of the table. */
export const besideArgoWorkflows: readonly Program[] = [
  timed('one', 'one workflow of one step', { spec: chainOf(1, trueState), argo: oneStep }),
  timed('chain', '10 steps in a row', { spec: chainOf(10, trueState), argo: chainOfSteps(10) }),
  timed('fan-out', `${width} steps at once and one behind them`, { spec: fanOut, argo: fanOutAndJoin(width) }),
  timed('podless', '50 workflows without a pod at once', { spec: podless, argo: withoutPod, count: 50 }),
  timed('output', `${bytes / 1000} KB of output in the next step's environment`, {
    spec: passing,
    argo: passed(write, read),
  }),
  {
    name: 'argo-burst',
    title: `${count} one-step workflows at once; beside it Argo Workflows`,
    unit: 's',
    bar: { of: 'ratio', atMost: 1 },
    onRequest: true,
    measure: async (bench, say) => sampleOf(await ofTime(bench, say), seconds),
  },
  {
    name: 'argo-cpu',
    title: 'the same: processor time of the controllers',
    unit: 's',
    bar: { of: 'ratio', atMost: 1 },
    onRequest: true,
    measure: async (bench, say) => sampleOf(await ofCpu(bench, say), ({ controllerSeconds }) => controllerSeconds),
  },
  {
    name: 'argo-memory',
    title: 'the same: memory of the controllers afterwards',
    unit: 'MiB',
    bar: { of: 'ratio', atMost: 1 },
    onRequest: true,
    measure: async (bench, say) => sampleOf(await ofMemory(bench, say), ({ memoryMiB }) => memoryMiB),
  },
];
