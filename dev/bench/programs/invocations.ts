import { type NatsServer, startNatsServer } from '../../../test/nats/nats-server.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';
import { type BareServer, startBareServer } from '../bare-server.ts';
import { chartLimits } from '../bench-cluster.ts';
import { benchBus, laneTool } from '../lane-setup.ts';
import { residentMiB } from '../machine.ts';
import { environmentOfPod } from '../pod-environment.ts';
import type { LocalProgram, Sample } from '../program.ts';
import { type SignedCaller, signedCaller } from '../signed-caller.ts';
import { callRepeatedly, type Side, takeTurns } from '../take-turns.ts';

const turns = { rounds: 15, warmUps: 6, each: 500, inFlight: 32 };

interface LaneWorld {
  readonly nats: NatsServer;
  readonly caller: SignedCaller;
  readonly lane: BareServer;
}

/** A nats-server, a session, and a process of that folder that takes its calls. */
async function withLane<R>(folder: 'noop-api' | 'noop-lane', work: (world: LaneWorld) => Promise<R>): Promise<R> {
  const nats = await startNatsServer();
  const bus = benchBus(nats.url, 'bench');
  try {
    const caller = await signedCaller(bus, 'acme');
    const setup = { natsUrl: nats.url, sealKey: caller.sealKey };
    const lane = await startBareServer(folder, setup, await environmentOfPod(chartLimits.api));
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

function besideVerifier(folder: 'noop-api' | 'noop-lane', tool: string): Promise<Sample> {
  return withLane(folder, async ({ nats, caller, lane }) => {
    const bare = await startBareServer('bare-verifier', { natsUrl: nats.url, callerKey: caller.callerKey });
    try {
      return await takeTurns(sideOf(lane, caller, tool), sideOf(bare, caller, tool), turns);
    } finally {
      bare.stop();
    }
  });
}

export const apiInvocations: LocalProgram = {
  name: 'api-invocations',
  title: 'signed invocations of a tool that does nothing, at the API; beside them a bare verifier',
  unit: 'calls/s',
  bar: { of: 'ratio', atLeast: 0.6 },
  measureLocally: () => besideVerifier('noop-api', 'svc.tools.list'),
};

export const laneInvocations: LocalProgram = {
  name: 'lane-invocations',
  title: 'signed invocations of a tool that does nothing, at the gateway; beside them a bare verifier',
  unit: 'calls/s',
  bar: { of: 'ratio', atLeast: 0.6 },
  measureLocally: () => besideVerifier('noop-lane', laneTool),
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
