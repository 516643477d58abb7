import { randomUUID } from 'node:crypto';
import { pause } from '../../../test/cluster/harness/wait.ts';
import { startNatsServer } from '../../../test/nats/nats-server.ts';
import type { AgentSetup } from '../agent-setup.ts';
import { type BareServer, startBareServer } from '../bare-server.ts';
import { chartLimits } from '../bench-cluster.ts';
import { residentMiB } from '../machine.ts';
import { type PacedModel, startPacedModel } from '../paced-model.ts';
import { environmentOfPod } from '../pod-environment.ts';
import type { LocalProgram, Sample } from '../program.ts';
import { median, percentile } from '../statistics.ts';

interface AgentWorld {
  readonly model: PacedModel;
  readonly setup: AgentSetup;
}

/** A nats-server and a provider, which answers when the program says so. */
async function withModel<R>(work: (world: AgentWorld) => Promise<R>): Promise<R> {
  const [nats, model] = [await startNatsServer(), await startPacedModel()];
  try {
    return await work({ model, setup: { natsUrl: nats.url, modelUrl: model.url } });
  } finally {
    await model.close();
    await nats.stop();
  }
}

const startApi = async (setup: AgentSetup): Promise<BareServer> =>
  startBareServer('agent-api', setup, await environmentOfPod(chartLimits.api));

const tokens = 500;
/** Those that come first warm up and do not count. */
const warmUps = 100;
const pacedMs = 20;

/** When the client of an event stream has received each of our pieces of text, by its number. */
async function* piecesOf(url: URL, signal: AbortSignal): AsyncGenerator<number> {
  const response = await fetch(url, { signal, headers: { authorization: 'Bearer bench' } });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const whole = text.slice(0, text.lastIndexOf('\n\n') + 1);
    text = text.slice(whole.length);
    yield -1;
    for (const [, number] of whole.matchAll(/<(\d+)>/g)) yield Number(number);
  }
}

async function tokenDelays({ model, setup }: AgentWorld): Promise<number[]> {
  const api = await startApi(setup);
  const client = new AbortController();
  try {
    const uid = randomUUID();
    api.send(uid);
    const reply = await model.next();
    const pieces = piecesOf(new URL(`/v1/executions/${uid}/events`, api.url), client.signal);
    // The records before the first piece of text: from here on the client is served.
    await pieces.next();
    await pause(1_000);
    const sent: number[] = [];
    const delays: number[] = [];
    const speaking = (async () => {
      for (let token = 0; token < tokens; token += 1) {
        sent.push(performance.now());
        reply.say(`<${token}>`);
        await pause(pacedMs);
      }
    })();
    for await (const piece of pieces) {
      if (piece >= warmUps) delays.push(performance.now() - (sent[piece] ?? Number.NaN));
      if (piece === tokens - 1) break;
    }
    await speaking;
    return delays;
  } finally {
    client.abort();
    api.stop();
  }
}

const warmWaiting = 200;
const waitingMost = 600;

/**
 * The memory that each of so many more requests that wait for the model adds, ten seconds after the last one, in
 * KiB. The first ones have loaded and compiled what all of them use.
 */
async function perWaitingKiB(server: BareServer, model: PacedModel): Promise<number> {
  const settled = async (count: number): Promise<number> => {
    server.send(Array.from({ length: count }, () => randomUUID()).join(','));
    for (let asked = 0; asked < count; asked += 1) await model.next();
    await pause(10_000);
    return residentMiB(server.pid);
  };
  const before = await settled(warmWaiting);
  const count = waitingMost - warmWaiting;
  return (((await settled(count)) - before) * 1_024) / count;
}

async function waitingMemory({ model, setup }: AgentWorld): Promise<Sample> {
  const environment = await environmentOfPod(chartLimits.api);
  const servers = [
    await startBareServer('agent-api', setup, environment),
    await startBareServer('bare-model', setup, environment),
  ] as const;
  try {
    return { ours: await perWaitingKiB(servers[0], model), baseline: await perWaitingKiB(servers[1], model) };
  } finally {
    for (const server of servers) server.stop();
  }
}

export const waitingMemoryRow: LocalProgram = {
  name: 'agent-waiting-memory',
  title: "memory of each of 400 executions that wait for a model; beside them requests of the provider's package alone",
  unit: 'KiB',
  bar: { of: 'ratio', atMost: 1.5 },
  measureLocally: () => withModel(waitingMemory),
};

const turns = 220;
/** Those that come first warm up and do not count. */
const warmTurns = 20;

/** Asks the dispatch gateway as the pod of an execution does. */
async function post(api: BareServer, path: string, body: object): Promise<Readonly<Record<string, string>>> {
  const response = await fetch(new URL(path, api.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
  return (await response.json()) as Readonly<Record<string, string>>;
}

/** Milliseconds from the result of one command to the next command, with a model that answers at once. */
async function turnTimes(api: BareServer): Promise<number[]> {
  const execution_id = randomUUID();
  api.send(execution_id);
  await pause(1_000);
  const pod = { agent_id: 'agent-1', execution_id };
  const agent_public_key = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';
  await post(api, '/v1/seal/attest', { ...pod, container_id: 'pod-1', agent_public_key });
  const generate = { iteration_number: 1, model_alias: 'default', prompt: '', messages: [] };
  let answer = await post(api, '/v1/dispatch-gateway', { type: 'generate', ...pod, ...generate });
  const result = { type: 'dispatch_result', execution_id, exit_code: 0, stdout: 'x'.repeat(200), stderr: '' };
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const at = performance.now();
    const reported = { ...result, duration_ms: 1, truncated: false, dispatch_id: answer['dispatch_id'] };
    answer = await post(api, '/v1/dispatch-gateway', reported);
    if (turn >= warmTurns) times.push(performance.now() - at);
  }
  return times;
}

/** Milliseconds of one request to the model by a bare client, which reads the whole answer. */
async function bareTimes(modelUrl: string): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const at = performance.now();
    const body = JSON.stringify({ model: 'bench-1', messages: [{ role: 'user', content: 'do it' }], stream: true });
    await (await fetch(`${modelUrl}/chat/completions`, { method: 'POST', body })).text();
    if (turn >= warmTurns) times.push(performance.now() - at);
  }
  return times;
}

async function turnOverhead({ model, setup }: AgentWorld): Promise<Sample> {
  let isOver = false;
  const answering = (async () => {
    while (!isOver) (await model.next()).call('cmd.run');
  })();
  const api = await startApi(setup);
  try {
    const ours = await turnTimes(api);
    const bare = await bareTimes(setup.modelUrl);
    const extra = { 'ms of 99 %': percentile(ours, 0.99), turns: ours.length };
    return { ours: median(ours), baseline: median(bare), extra };
  } finally {
    isOver = true;
    api.stop();
    void answering;
  }
}

export const agentTurn: LocalProgram = {
  name: 'agent-turn',
  title:
    'from the result of a command to the next command of an agent whose model answers at once; beside it a bare request',
  unit: 'ms',
  bar: { of: 'ours', atMost: 50 },
  measureLocally: () => withModel(turnOverhead),
};

export const tokenDelay: LocalProgram = {
  name: 'agent-token-delay',
  title: "a model's token to a client of the events of its execution, after the provider sent it",
  unit: 'ms',
  bar: { of: 'ours', atMost: 20 },
  measureLocally: () =>
    withModel(async (world) => {
      const delays = await tokenDelays(world);
      return { ours: median(delays), extra: { 'ms of 99 %': percentile(delays, 0.99), tokens: delays.length } };
    }),
};
