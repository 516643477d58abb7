import { type NatsServer, startNatsServer } from '../../../test/nats/nats-server.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';
import { type BareServer, startBareServer } from '../bare-server.ts';
import { chartLimits } from '../bench-cluster.ts';
import { benchBus, laneTool } from '../lane-setup.ts';
import { residentMiB } from '../machine.ts';
import { pacedCalls } from '../paced-calls.ts';
import { environmentOfPod } from '../pod-environment.ts';
import type { LocalProgram, Sample } from '../program.ts';
import { type SignedCaller, signedCaller } from '../signed-caller.ts';
import { percentile } from '../statistics.ts';
import { callRepeatedly, type Side, takeTurns } from '../take-turns.ts';

const turns = { rounds: 15, warmUps: 6, each: 500, inFlight: 32 };

interface LaneWorld {
  readonly nats: NatsServer;
  readonly caller: SignedCaller;
  readonly lane: BareServer;
}

type Folder = 'noop-api' | 'noop-lane';

/** A nats-server, a session, and a process of that folder that takes its calls. */
async function withLane<R>(folder: Folder, work: (world: LaneWorld) => Promise<R>, more: object = {}): Promise<R> {
  const nats = await startNatsServer();
  const bus = benchBus(nats.url, 'bench');
  try {
    const caller = await signedCaller(bus, 'acme');
    const setup = { natsUrl: nats.url, sealKey: caller.sealKey, ...more };
    const component = folder === 'noop-lane' ? 'gateway' : 'other';
    const lane = await startBareServer(folder, setup, await environmentOfPod(chartLimits.api, component));
    try {
      return await work({ nats, caller, lane });
    } finally {
      lane.stop();
    }
  } finally {
    await bus.close(0);
    await nats.stop();
  }
}

const sideOf = ({ url, pid }: BareServer, caller: SignedCaller, tool: string): Side => ({
  url,
  pid,
  path: '/v1/invoke',
  bodies: (count) => caller.envelopes(count, tool),
});

interface Sides {
  readonly ours: Side;
  readonly bare: Side;
}

interface Compared {
  readonly folder: Folder;
  readonly tool: string;
  /** Address of an upstream that both ask. */
  readonly upstream?: string;
}

/** Both servers, and what `compare` makes of them. */
function besideVerifier(
  { folder, tool, ...more }: Compared,
  compare: (sides: Sides) => Promise<Sample> = ({ ours, bare }) => takeTurns(ours, bare, turns),
): Promise<Sample> {
  const work = async ({ nats, caller, lane }: LaneWorld): Promise<Sample> => {
    const setup = { natsUrl: nats.url, callerKey: caller.callerKey, ...more };
    const bare = await startBareServer('bare-verifier', setup);
    try {
      return await compare({ ours: sideOf(lane, caller, tool), bare: sideOf(bare, caller, tool) });
    } finally {
      bare.stop();
    }
  };
  return withLane(folder, work, more);
}

/** The same for a chain of one step and a proxy, with an upstream in a process of its own. */
async function besideProxy(compare?: (sides: Sides) => Promise<Sample>): Promise<Sample> {
  const upstream = await startBareServer('upstream');
  try {
    return await besideVerifier({ folder: 'noop-lane', tool: laneTool, upstream: upstream.url.href }, compare);
  } finally {
    upstream.stop();
  }
}

/** Seconds of each turn at half the rate, and turns of each side. */
const paced = { seconds: 5, turns: 4 };

/** The rate is half of what ours reaches with 32 calls under way, for both sides. */
async function latencyAtHalf({ ours, bare }: Sides): Promise<Sample> {
  const reached = await takeTurns(ours, bare, { ...turns, rounds: 5 });
  const pace = { perSecond: reached.ours / 2, seconds: paced.seconds };
  const [mine, other]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < paced.turns; turn += 1) {
    other.push(...(await pacedCalls(bare, pace)));
    mine.push(...(await pacedCalls(ours, pace)));
  }
  const medians = { 'ms, median, ours': percentile(mine, 0.5), 'ms, median, bare': percentile(other, 0.5) };
  return {
    ours: percentile(mine, 0.99),
    baseline: percentile(other, 0.99),
    extra: { 'calls a second': Math.round(pace.perSecond), ...medians },
  };
}

export const apiInvocations: LocalProgram = {
  name: 'api-invocations',
  title: 'signed invocations of a tool that does nothing, at the API; beside them a bare verifier',
  unit: 'calls/s',
  bar: { of: 'ratio', atLeast: 0.6 },
  measureLocally: () => besideVerifier({ folder: 'noop-api', tool: 'svc.tools.list' }),
};

export const laneInvocations: LocalProgram = {
  name: 'lane-invocations',
  title: 'signed invocations of a tool that does nothing, at the gateway; beside them a bare verifier',
  unit: 'calls/s',
  bar: { of: 'ratio', atLeast: 0.6 },
  measureLocally: () => besideVerifier({ folder: 'noop-lane', tool: laneTool }),
};

export const chainInvocations: LocalProgram = {
  name: 'chain-invocations',
  title:
    'signed invocations of a chain of one step at the gateway; beside them a bare verifier that asks the same upstream',
  unit: 'calls/s',
  bar: { of: 'ratio', atLeast: 0.6 },
  measureLocally: () => besideProxy(),
};

export const chainLatency: LocalProgram = {
  name: 'chain-latency',
  title: 'time of 99 % of such calls at half that rate; beside it that of the bare verifier at the same rate',
  unit: 'ms',
  bar: { of: 'ratio', atMost: 3 },
  measureLocally: () => besideProxy(latencyAtHalf),
};

const batches = 20;
const perBatch = 10_000;
/** Batches after which everything that calls use is loaded and compiled. */
const loaded = 6;

export const invocationMemory: LocalProgram = {
  name: 'lane-memory-growth',
  title: 'what the last 140,000 of 200,000 signed invocations add to the memory of the gateway',
  unit: 'MiB',
  bar: { of: 'ours', atMost: 5 },
  runs: 1,
  measureLocally: (say) =>
    withLane('noop-lane', async ({ caller, lane }) => {
      const resident: number[] = [];
      for (let batch = 1; batch <= batches; batch++) {
        await callRepeatedly(sideOf(lane, caller, laneTool), perBatch);
        // No garbage is collected on request: the process has time to do it by itself.
        await pause(5_000);
        resident.push(await residentMiB(lane.pid));
        say(`${batch * perBatch} calls: ${resident.at(-1)?.toFixed(1)} MiB`);
      }
      const [before, after] = [resident[loaded - 1] ?? Number.NaN, resident.at(-1) ?? Number.NaN];
      return { ours: after - before, extra: { 'MiB at the end': Math.round(after) } };
    }),
};
