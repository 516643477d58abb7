import type { State } from '../../../crds/schema/state.ts';
import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { workflowExecutions } from '../../../test/cluster/harness/kinds.ts';
import { observe } from '../../../test/cluster/harness/observer.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';
import { type BenchApi, startBenchApi } from '../api.ts';
import { startBareServer } from '../bare-server.ts';
import { type BenchCluster, register } from '../bench-cluster.ts';
import { residentMiB } from '../machine.ts';
import type { Program } from '../program.ts';
import { percentile } from '../statistics.ts';
import { withStreams } from '../stream-clients.ts';

const clients = 1_000;
/** The first one warms up and does not count. */
const rounds = 31;

/** Two Human states that lead to each other: each answer is three events. */
function pingPong(): WorkflowSpec {
  const ask = (target: string): State => ({
    kind: 'Human',
    prompt: 'Go on?',
    max_state_visits: 20,
    transitions: [{ target }],
  });
  return { version: '1.0.0', initial_state: 'a', max_total_transitions: 100, states: { a: ask('b'), b: ask('a') } };
}

async function started(bench: BenchCluster, { url, token }: BenchApi): Promise<WorkflowExecution> {
  await register(bench, 'ping-pong', pingPong());
  const answer = await fetch(`${url}/v1/workflows/executions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workflow: 'ping-pong' }),
  });
  const { execution_id: id } = (await answer.json()) as { execution_id: string };
  const { items } = await bench.kube.listAll(workflowExecutions, { namespace: bench.namespace });
  const found = items.find(({ metadata }) => metadata.uid === id);
  if (found === undefined) throw new Error(`the execution ${id} is not there`);
  return found;
}

const streamOf = ({ url }: BenchApi, { metadata }: WorkflowExecution): URL =>
  new URL(`/v1/workflows/executions/${metadata.uid}/stream`, url);

/** Answers the state that waits; what follows from it is the event. */
async function answer({ url, token }: BenchApi, { metadata }: WorkflowExecution): Promise<void> {
  const reply = await fetch(`${url}/v1/workflows/executions/${metadata.uid}/signal`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"response":"on"}',
  });
  if (!reply.ok) throw new Error(`the answer was refused: ${reply.status} ${await reply.text()}`);
}

/** Milliseconds until each client had each event, from the moment at which a watch of ours showed it. */
async function delivery(bench: BenchCluster, api: BenchApi): Promise<number[]> {
  const execution = await started(bench, api);
  const observer = await observe(bench.kube, { resource: workflowExecutions, namespace: bench.namespace });
  const options = { count: clients, token: api.token, first: '1.approval' };
  try {
    return await withStreams(streamOf(api, execution), options, async (streams) => {
      const times: number[] = [];
      for (let round = 1; round <= rounds; round++) {
        const arriving = streams.arrivals(`${round + 1}.approval`);
        const shown = observer.until((_view, changed) =>
          (changed?.status?.history?.length ?? 0) >= round ? performance.now() : undefined,
        );
        await answer(api, execution);
        const [arrivals, at] = await Promise.all([arriving, shown]);
        if (round > 1) times.push(...arrivals.map((arrival) => Math.max(0, arrival - at)));
      }
      return times;
    });
  } finally {
    await observer.stop();
  }
}

/** The same number of bytes in as many writes, by a server that does nothing else. */
async function bareDelivery(): Promise<number[]> {
  const server = await startBareServer('broadcast');
  try {
    return await withStreams(server.url, { count: clients, first: 'start' }, async (streams) => {
      const times: number[] = [];
      for (let round = 1; round <= rounds; round++) {
        const arriving = streams.arrivals(`${round + 1}.approval`);
        const at = performance.now();
        for (const id of [`${round}.completed`, `${round + 1}.started`, `${round + 1}.approval`]) {
          server.send(`id: ${id}\ndata: ${'x'.repeat(200)}\n\n`);
        }
        const arrivals = await arriving;
        if (round > 1) times.push(...arrivals.map((arrival) => arrival - at));
        await pause(50);
      }
      return times;
    });
  } finally {
    server.stop();
  }
}

export const eventDelivery: Program = {
  name: 'event-delivery',
  title: `an event of an execution reaches 99 % of ${clients.toLocaleString('en')} clients`,
  unit: 'ms',
  bar: { of: 'ours', atMost: 250 },
  async measure(bench, say) {
    await bench.controllers();
    const api = await startBenchApi(bench);
    try {
      const ours = await delivery(bench, api);
      const bare = await bareDelivery();
      say(`median ${percentile(ours, 0.5).toFixed(1)} ms, bare ${percentile(bare, 0.5).toFixed(1)} ms`);
      return {
        ours: percentile(ours, 0.99),
        baseline: percentile(bare, 0.99),
        extra: { 'median ms': Math.round(percentile(ours, 0.5)), 'slowest ms': Math.round(Math.max(...ours)) },
      };
    } finally {
      await api.stop();
    }
  },
};

/**
 * Growth of the resident memory with as many clients again, ten seconds after they are there. The first ones have
 * loaded and compiled what all of them use; no garbage collection is forced.
 */
function perClientKiB(pid: number, url: URL, options: { first: string; token?: string }): Promise<number> {
  const settled = async (): Promise<number> => {
    await pause(10_000);
    return residentMiB(pid);
  };
  const open = <R>(work: () => Promise<R>): Promise<R> => withStreams(url, { count: clients, ...options }, work);
  return open(async () => {
    const before = await settled();
    return (((await open(settled)) - before) * 1_024) / clients;
  });
}

export const streamMemory: Program = {
  name: 'stream-memory',
  title: `memory of each of ${clients.toLocaleString('en')} clients of one event stream`,
  unit: 'KiB',
  bar: { of: 'ours', atMost: 40 },
  async measure(bench) {
    await bench.controllers();
    const api = await startBenchApi(bench);
    const server = await startBareServer('broadcast');
    try {
      const url = streamOf(api, await started(bench, api));
      return {
        ours: await perClientKiB(api.pid, url, { token: api.token, first: '1.approval' }),
        baseline: await perClientKiB(server.pid, server.url, { first: 'start' }),
      };
    } finally {
      server.stop();
      await api.stop();
    }
  },
};
