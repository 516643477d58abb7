import { edgeHosts } from '../../../lib/kinds.ts';
import { observe } from '../../../test/cluster/harness/observer.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';
import type { BenchCluster } from '../bench-cluster.ts';
import { processCpuSeconds } from '../machine.ts';
import { connectedHosts } from './bench-hosts.ts';
import { commandRate, type RateFound, type RateLoad } from './command-rate.ts';
import { type EdgeWorld, openEdgeWorld } from './edge-world.ts';
import { type FleetTurn, fleetTurns } from './fleet-command.ts';
import { type HeldStreams, heartbeatLoad, holdStreams, type Reconnected, reconnect } from './held-streams.ts';

/** How large the measurement is. */
export interface EdgeLoad {
  readonly streams: number;
  /** Turns of a fleet command to half of the hosts. */
  readonly fleetTurns: number;
  readonly rate: RateLoad;
  /** For how long heartbeats alone are looked at. */
  readonly heartbeatSeconds: number;
  readonly quietSeconds: number;
  readonly restarts: number;
}

/** A number of ours and the same one of the bare server. */
interface Pair<T> {
  readonly ours: T;
  readonly bare: T;
}

export interface EdgeFound {
  readonly memory: Pair<HeldStreams>;
  /** Per cent of a processor. */
  readonly heartbeats: Pair<number>;
  /** Writes of hosts within `quietSeconds`. */
  readonly quietWrites: number;
  readonly quietSeconds: number;
  /** From the moment at which all streams were held and had settled until the last write of their connects. */
  readonly lagSeconds: number;
  readonly reconnects: readonly (Pair<Reconnected> & { readonly writes: number })[];
  readonly fleet: readonly FleetTurn[];
  /** With the processor time of the relay for each command. */
  readonly rate: RateFound & { readonly cpuMicros: number };
}

type Say = (text: string) => void;

/** All rows of edge mode, of one relay with enrolled hosts. */
export async function measureEdge(bench: BenchCluster, load: EdgeLoad, say: Say): Promise<EdgeFound> {
  const started = performance.now();
  const world = await openEdgeWorld(bench, load.streams);
  say(`${load.streams} hosts are enrolled (${Math.round((performance.now() - started) / 1_000)} s)`);
  try {
    const memoryNow = await holdAll(world, load);
    say(memoryText(await memoryNow()));
    const quiet = await quietTime(bench, world, load, say);
    const memory = await memoryNow();
    say(memoryText(memory));
    const reconnects = await restarts(bench, world, load, say);
    const rate = await rateOf(bench, world, load, say);
    const fleet = await fleetOf(bench, world, load, say);
    return { memory, ...quiet, reconnects, rate, fleet };
  } finally {
    await world.close();
  }
}

/** Both side by side, which saves time: one takes no memory of the other. The answer reads their memory. */
async function holdAll({ bare, relay }: EdgeWorld, { streams }: EdgeLoad): Promise<() => Promise<Pair<HeldStreams>>> {
  const [ours, bares] = await Promise.all([holdStreams(relay, streams), holdStreams(bare, streams)]);
  return async () => ({ ours: await ours(), bare: await bares() });
}

const memoryText = ({ ours, bare }: Pair<HeldStreams>): string => {
  const text = ({ eachKiB, allMiB }: HeldStreams): string => `${eachKiB.toFixed(1)} KiB each, ${allMiB.toFixed(0)} MiB`;
  return `memory: ours ${text(ours)}; bare ${text(bare)}`;
};

/**
 * Begins when the writes of the connects have ended, and counts writes from then on; the processor time is that of the first
 * part.
 */
async function quietTime(
  bench: BenchCluster,
  { bare, relay }: EdgeWorld,
  { heartbeatSeconds, quietSeconds }: EdgeLoad,
  say: Say,
): Promise<Pick<EdgeFound, 'heartbeats' | 'quietWrites' | 'quietSeconds' | 'lagSeconds'>> {
  const late = await lastWrite(bench);
  say(`the connects were written ${late.seconds.toFixed(0)} s later, ${late.writes} writes`);
  const writes = await countWrites(bench);
  const [ours = Number.NaN, bares = Number.NaN] = await heartbeatLoad([relay, bare], heartbeatSeconds);
  say(`heartbeats: ours ${ours.toFixed(1)} %, bare ${bares.toFixed(1)} % of a processor`);
  await pause(Math.max(0, quietSeconds - heartbeatSeconds) * 1_000);
  const quietWrites = await writes();
  say(`${quietWrites} writes in ${quietSeconds} quiet seconds`);
  return { heartbeats: { ours, bare: bares }, quietWrites, quietSeconds, lagSeconds: late.seconds };
}

/** A pause without a write that ends the writes of the connects, and the longest wait for it. */
const rest = { pauseMs: 5_000, mostMs: 600_000 } as const;

/** Waits until no host was written for `rest.pauseMs`; what is still written after `rest.mostMs` counts as quiet time. */
async function lastWrite({ kube, namespace }: BenchCluster): Promise<{ seconds: number; writes: number }> {
  const observer = await observe(kube, { resource: edgeHosts, namespace });
  const began = performance.now();
  let [writes, last] = [0, began];
  while (performance.now() - last < rest.pauseMs && performance.now() - began < rest.mostMs) {
    await pause(100);
    const now = sumOf(observer.changes);
    if (now > writes) [writes, last] = [now, performance.now()];
  }
  await observer.stop();
  return { seconds: (last - began) / 1_000, writes };
}

/** Answers how many writes of hosts there were until then. */
async function countWrites({ kube, namespace }: BenchCluster): Promise<() => Promise<number>> {
  const observer = await observe(kube, { resource: edgeHosts, namespace });
  return async () => {
    await observer.stop();
    return sumOf(observer.changes);
  };
}

const sumOf = (changes: ReadonlyMap<string, number>): number =>
  [...changes.values()].reduce((sum, count) => sum + count, 0);

async function restarts(
  bench: BenchCluster,
  { bare, relay }: EdgeWorld,
  { streams, restarts: count }: EdgeLoad,
  say: Say,
): Promise<EdgeFound['reconnects']> {
  const found: EdgeFound['reconnects'][number][] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const written = await countWrites(bench);
    const ours = await reconnect(relay, streams);
    const bares = await reconnect(bare, streams, ours.downSeconds);
    // The writes that follow the end of streams come within the grace and one sweep.
    await pause(sweepMs);
    const writes = await written();
    found.push({ ours, bare: bares, writes });
    const refused = JSON.stringify(ours.refused);
    const after = ({ seconds, downSeconds }: Reconnected): string =>
      `${seconds.toFixed(1)} s after ${downSeconds.toFixed(1)} s`;
    say(`reconnect: ours ${after(ours)}, bare ${after(bares)}, ${writes} writes, refused ${refused}`);
  }
  return found;
}

const sweepMs = 45_000;

/** The first seconds warm up. */
async function rateOf(bench: BenchCluster, world: EdgeWorld, { rate }: EdgeLoad, say: Say): Promise<EdgeFound['rate']> {
  const hosts = await connectedHosts(bench);
  await commandRate(world, hosts, { ...rate, seconds: Math.ceil(rate.seconds / 4) });
  const before = await processCpuSeconds(world.relay.holder.pid);
  const found = await commandRate(world, hosts, rate);
  const cpuMicros = (((await processCpuSeconds(world.relay.holder.pid)) - before) * 1e6) / found.times.length;
  say(
    `${found.times.length} results at ${rate.perSecond} a second, ${found.failed} failed, ${cpuMicros.toFixed(0)} µs each`,
  );
  return { ...found, cpuMicros };
}

async function fleetOf(
  bench: BenchCluster,
  { nats, edgeKeyFile, relay }: EdgeWorld,
  { streams, fleetTurns: turns }: EdgeLoad,
  say: Say,
): Promise<FleetTurn[]> {
  // Commands at a rate that the machine cannot follow end streams, and a host that is away fails a run.
  await relay.holder.holds(streams);
  await lastWrite(bench);
  await bench.controllers({ asInPod: true, env: { WINDLASS_NATS_URL: nats.url, WINDLASS_EDGE_KEY: edgeKeyFile } });
  const found = await fleetTurns(bench, { nats, hosts: Math.ceil(streams / 2) }, turns);
  for (const { ours, bare: echo } of found)
    say(`fleet command: ours ${ours.toFixed(0)} ms, bare ${echo.toFixed(0)} ms`);
  return found;
}
