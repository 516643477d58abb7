import { randomUUID } from 'node:crypto';
import { pause } from '../../../test/cluster/harness/wait.ts';
import { startNatsServer } from '../../../test/nats/nats-server.ts';
import type { AgentSetup } from '../agent-setup.ts';
import { type BareServer, startBareServer } from '../bare-server.ts';
import { chartLimits } from '../bench-cluster.ts';
import { type PacedModel, startPacedModel } from '../paced-model.ts';
import { environmentOfPod } from '../pod-environment.ts';
import type { LocalProgram } from '../program.ts';
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
