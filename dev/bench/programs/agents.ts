import type { AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { agentExecutions, agents } from '../../../test/cluster/harness/kinds.ts';
import { observe } from '../../../test/cluster/harness/observer.ts';
import { waitForObject } from '../../../test/cluster/harness/wait.ts';
import { barePodsInARow, image } from '../bare-pods.ts';
import { type BenchCluster, register, removePods, runExecutions } from '../bench-cluster.ts';
import type { Program } from '../program.ts';

const apiVersion = 'windlass.dev/v1';
const runs = 10;
const judges = 5;

/** The scripted model of dev/demo/model answers at once, with what its input says. */
const instruction = 'You say what your input says.';
const answerOf = (content: string): string => JSON.stringify([{ content }]);
const verdict = answerOf(JSON.stringify({ score: 0.9, confidence: 0.9, reasoning: 'fine' }));

/** Where the pods of agents find the installed API, as the chart says it to its own controllers. */
const env = { WINDLASS_AGENT_GATEWAY: 'http://windlass-api-internal.windlass-system.svc:8081' };

async function makeAgent(
  { kube, namespace }: BenchCluster,
  name: string,
  spec: Partial<AgentSpec> = {},
): Promise<void> {
  const whole: AgentSpec = { version: '1.0.0', runtime: { model: 'default' }, task: { instruction }, ...spec };
  await kube.create(agents, { apiVersion, kind: 'Agent', metadata: { name, namespace }, spec: whole });
  const isReady = ({
    status,
  }: {
    readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
  }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
  await waitForObject(kube, { resource: agents, namespace, name }, isReady, { timeoutMs: 30_000 });
}

/** Seconds for executions one after another: each is created at the watch event that shows the one before it as completed. */
async function agentsInARow(kube: KubeClient, namespace: string, agent: string, count: number): Promise<number> {
  const observer = await observe(kube, { resource: agentExecutions, namespace });
  const before = observer.view.size;
  const completed = ({ status }: AgentExecution): boolean => {
    if (status?.phase === 'failed') throw new Error(`an execution failed: ${status.reason}: ${status.message}`);
    return status?.phase === 'completed';
  };
  const started = performance.now();
  for (let index = before + 1; index <= before + count; index++) {
    const metadata = { name: `run-${index}`, namespace };
    const spec = { agent, input: answerOf('done') };
    await kube.create(agentExecutions, { apiVersion, kind: 'AgentExecution', metadata, spec });
    await observer.until((view) => ([...view.values()].filter(completed).length >= index ? true : undefined));
  }
  const seconds = (performance.now() - started) / 1_000;
  await observer.stop();
  return seconds;
}

/** Executions of an agent beside as many bare pods, each in a row. Needs the installation of dev/demo/install. */
export const agentRuns: Program = {
  name: 'agent-runs',
  title: `${runs} executions of an agent in a row, with a model that answers at once`,
  unit: 's',
  bar: { of: 'ratio', atMost: 0.45 },
  async measure(bench, say) {
    const { kube, namespace } = bench;
    await bench.controllers({ env });
    await makeAgent(bench, 'talker');
    await makeAgent(bench, 'worker', { tools: [{ name: 'fs.read' }] });
    await agentsInARow(kube, namespace, 'talker', 2);
    const baseline = await barePodsInARow(kube, namespace, runs);
    say(`bare pods ${baseline.toFixed(2)} s`);
    await removePods(bench);
    const ours = await agentsInARow(kube, namespace, 'talker', runs);
    const withPod = await agentsInARow(kube, namespace, 'worker', runs);
    return { ours, baseline, extra: { 's of agents that have a pod and do not use it': withPod } };
  },
};

const panelOf = (): WorkflowSpec => ({
  version: '1.0.0',
  initial_state: 'panel',
  states: {
    panel: {
      kind: 'ParallelAgents',
      agents: Array.from({ length: judges }, () => ({ agent: 'judge', input: verdict })),
      consensus: { strategy: 'weighted_average', threshold: 0.7 },
      transitions: [],
    },
  },
});

const parallelOf = (): WorkflowSpec => ({
  version: '1.0.0',
  initial_state: 'all',
  states: {
    all: {
      kind: 'ParallelContainerRun',
      steps: Array.from({ length: judges }, (_, index) => ({ name: `step${index + 1}`, image, command: ['true'] })),
      transitions: [],
    },
  },
});

/** A panel beside as many containers at once, both as workflows. Needs the installation of dev/demo/install. */
export const agentPanel: Program = {
  name: 'agent-panel',
  title: `a panel of ${judges} judges with a model that answers at once; beside it a ParallelContainerRun of ${judges}`,
  unit: 's',
  bar: { of: 'ratio', atMost: 1.3 },
  async measure(bench, say) {
    await bench.controllers({ env });
    await makeAgent(bench, 'judge');
    await register(bench, 'panel', panelOf());
    await register(bench, 'parallel', parallelOf());
    for (const workflow of ['panel', 'parallel']) await runExecutions(bench, workflow, { count: 1 });
    await removePods(bench);
    const { seconds: baseline } = await runExecutions(bench, 'parallel', { count: 1 });
    say(`containers ${baseline.toFixed(2)} s`);
    await removePods(bench);
    const { seconds: ours } = await runExecutions(bench, 'panel', { count: 1 });
    return { ours, baseline };
  },
};
