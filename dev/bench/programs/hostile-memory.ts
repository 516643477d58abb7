import { request } from 'undici';
import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import { workflowExecutions } from '../../../test/cluster/harness/kinds.ts';
import { waitForView } from '../../../test/cluster/harness/wait.ts';
import { hostileShapes } from '../../../test/hostile/support/json-shapes.ts';
import { type BenchApi, startBenchApi } from '../api.ts';
import { image } from '../bare-pods.ts';
import { type BenchCluster, chartLimits, register, startAll } from '../bench-cluster.ts';
import { peakMiB } from '../machine.ts';
import type { Program } from '../program.ts';
import { sharedMeasure } from '../shared.ts';
import { podlessWorkflow } from './podless.ts';

/** How much of everything the hostile tenant has. */
interface HostileLoad {
  /** Executions that wait with an input of 1 MiB of `{}`. */
  readonly inputs: number;
  /** Executions that wait for an answer to a question of 60,000 characters. */
  readonly prompts: number;
  /** Steps that write 1 MiB to each stream, at the same time. */
  readonly loudSteps: number;
  /** Requests of each of two kinds that the hostile tenant has under way. */
  readonly attackers: number;
  /** How long requests are sent once all that is there. */
  readonly seconds: number;
}

interface Found {
  readonly controllersMiB: number;
  readonly apiMiB: number;
  /** Requests of the other tenant that were answered with an error, or not at all, of how many. */
  readonly refused: number;
  readonly asked: number;
}

/** Requests of each connection that may be stored. */
const stored = 2;
const promptLength = 60_000;
const inFlight = 4;

const human = (prompt: string): WorkflowSpec => ({
  version: '1.0.0',
  initial_state: 'ask',
  states: { ask: { kind: 'Human', prompt, transitions: [] } },
});

/** Starts itself twice and does not wait for the children. */
const bomb: WorkflowSpec = {
  version: '1.0.0',
  initial_state: 'first',
  states: {
    first: {
      kind: 'Subworkflow',
      workflow_id: 'bomb',
      mode: 'fire_and_forget',
      transitions: [{ target: 'second' }],
    },
    second: { kind: 'Subworkflow', workflow_id: 'bomb', mode: 'fire_and_forget', transitions: [] },
  },
};

const loudScript = 'yes "{}," | head -c 1048576; yes "[]," | head -c 1048576 >&2';

function loud(count: number): WorkflowSpec {
  const steps = Array.from({ length: count }, (_, index) => ({
    name: `loud${index}`,
    image,
    command: ['sh', '-c', loudScript],
  }));
  return {
    version: '1.0.0',
    initial_state: 'all',
    states: { all: { kind: 'ParallelContainerRun', steps, transitions: [] } },
  };
}

/** The hostile objects and requests of one tenant at the same time, beside another tenant that asks for little. */
export async function measureHostile(
  bench: BenchCluster,
  load: HostileLoad,
  say: (text: string) => void,
): Promise<Found> {
  const [other = ''] = await bench.furtherTenants(1);
  const { process: controllers } = await bench.controllers({ asInPod: true });
  const api = await startBenchApi(bench);
  try {
    await register({ ...bench, namespace: other }, 'podless', podlessWorkflow());
    await fill(bench, load);
    say('the hostile objects are there');
    const until = performance.now() + load.seconds * 1_000;
    const [answers] = await Promise.all([
      politely(api, await api.tokenOf(other), until),
      attack(api, load.attackers, until),
    ]);
    for (const answer of new Set(answers.filter((one) => one !== 'fine')))
      say(`the other tenant was answered ${answer}`);
    return {
      controllersMiB: await peakMiB(controllers.pid),
      apiMiB: await peakMiB(api.pid),
      refused: answers.filter((answer) => answer !== 'fine').length,
      asked: answers.length,
    };
  } finally {
    await api.stop();
  }
}

async function fill(bench: BenchCluster, { inputs, prompts, loudSteps }: HostileLoad): Promise<void> {
  const { kube, namespace } = bench;
  await register(bench, 'ask', human('Go on?'));
  await register(bench, 'long-question', human('why '.repeat(promptLength / 4)));
  await register(bench, 'bomb', bomb);
  await register(bench, 'loud', loud(loudSteps));
  const input = { a: JSON.parse(hostileShapes['empty objects'] ?? '[]') };
  await startAll(bench, { workflow: 'bomb', count: 1 });
  await startAll(bench, { workflow: 'loud', count: 1 });
  await startAll(bench, { workflow: 'long-question', count: prompts, inFlight });
  await startAll(bench, { workflow: 'ask', count: inputs, inFlight, input });
  // Large objects: only those that wait are looked for, and by few lists.
  await waitForView(
    kube,
    { resource: workflowExecutions, namespace, fieldSelector: `metadata.name=ask-${inputs - 1}` },
    (view) => ([...view.values()].some(({ status }) => status?.phase === 'waiting') ? true : undefined),
    { timeoutMs: 300_000 },
  );
}

interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/** The status of the answer; 0 where the connection broke. */
async function ask(api: BenchApi, token: string, { method, path, body }: Asked): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  try {
    const answer = await request(new URL(path, api.url), { method, headers, body: body ?? null });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return 0;
  }
}

/** Starts one execution after the other, and lists them. Tells of each request whether it was fine. */
async function politely(api: BenchApi, token: string, until: number): Promise<string[]> {
  const answers: string[] = [];
  const wanted: readonly Asked[] = [
    {
      method: 'POST',
      path: '/v1/workflows/executions',
      body: JSON.stringify({ workflow: 'podless', input: { a: 1 } }),
    },
    { method: 'GET', path: '/v1/workflows/executions' },
  ];
  while (performance.now() < until) {
    for (const one of wanted) {
      const status = await ask(api, token, one);
      answers.push(status >= 200 && status < 300 ? 'fine' : `${status} to ${one.method} ${one.path}`);
    }
  }
  return answers;
}

/**
 * Large bodies of every shape and the longest list, again and again; the answers do not matter. Only the first bodies name
 * a workflow that is there: what is stored takes many times its size in the API server.
 */
async function attack(api: BenchApi, attackers: number, until: number): Promise<void> {
  const shapes = Object.values(hostileShapes);
  const keepAsking = async (one: (turn: number) => Asked): Promise<void> => {
    for (let turn = 0; performance.now() < until; turn += 1) await ask(api, api.token, one(turn));
  };
  const start = (turn: number): Asked => ({
    method: 'POST',
    path: '/v1/workflows/executions',
    body: `{"workflow":"${turn < stored ? 'ask' : 'unknown'}","input":{"a":${shapes[turn % shapes.length]}}}`,
  });
  const list = (): Asked => ({ method: 'GET', path: '/v1/human-approvals?limit=200' });
  await Promise.all(Array.from({ length: attackers }, () => [keepAsking(start), keepAsking(list)]).flat());
}

const full: HostileLoad = { inputs: 40, prompts: 300, loudSteps: 20, attackers: 20, seconds: 60 };
const measured = sharedMeasure((bench, say) => measureHostile(bench, full, say));

interface Part {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly atMost: number;
  readonly of: (found: Found) => number;
}

function rowOf({ name, title, unit, atMost, of }: Part): Program {
  const measure = measured(name);
  return {
    name,
    title,
    unit,
    bar: { of: 'ours', atMost },
    runs: 1,
    async measure(bench, say) {
      const found = await measure(bench, say);
      return { ours: of(found), extra: { 'requests of the other tenant': found.asked } };
    },
  };
}

export const hostileControllers: Program = rowOf({
  name: 'hostile-controllers',
  title: 'most controller memory while one tenant has all the objects that are hostile to it, each at its limit',
  unit: 'MiB',
  atMost: chartLimits.controllers,
  of: ({ controllersMiB }) => controllersMiB,
});

export const hostileApi: Program = rowOf({
  name: 'hostile-api',
  title: 'most API memory in the same time',
  unit: 'MiB',
  atMost: chartLimits.api,
  of: ({ apiMiB }) => apiMiB,
});

export const hostileRefused: Program = rowOf({
  name: 'hostile-refused',
  title: 'requests of another tenant that were refused in the same time',
  unit: 'requests',
  atMost: 0,
  of: ({ refused }) => refused,
});
