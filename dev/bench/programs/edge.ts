import { median, percentile, rounded } from '../statistics.ts';
import { type EdgeFound, type EdgeLoad, measureEdge } from '../edge/measure-edge.ts';
import type { ClusterProgram, Sample } from '../program.ts';
import { sharedMeasure } from '../shared.ts';

const full = {
  streams: 10_000,
  fleetTurns: 5,
  rate: { perSecond: 1_000, seconds: 20 },
  heartbeatSeconds: 60,
  restarts: 3,
} satisfies Partial<EdgeLoad>;

const streams = full.streams.toLocaleString('en');
const measured = sharedMeasure((bench, say) => measureEdge(bench, { ...full, quietSeconds: bench.quietSeconds }, say));

/** One relay, ten thousand hosts: all rows of edge mode come from one run. */
function rowOf(row: Omit<ClusterProgram, 'measure' | 'runs'>, sampleOf: (found: EdgeFound) => Sample): ClusterProgram {
  const measure = measured(row.name);
  return { ...row, runs: 1, measure: async (bench, say) => sampleOf(await measure(bench, say)) };
}

export const edgeMemory = rowOf(
  {
    name: 'edge-memory',
    title: `memory of each of ${streams} streams of daemons on one relay; beside them a bare grpc-js server`,
    unit: 'KiB',
    bar: { of: 'ratio', atMost: 1.3 },
  },
  ({ memory: { ours, bare } }) => ({
    ours: ours.eachKiB,
    baseline: bare.eachKiB,
    extra: { 'MiB of the relay': Math.round(ours.allMiB), 'MiB of the bare server': Math.round(bare.allMiB) },
  }),
);

export const edgeHeartbeats = rowOf(
  {
    name: 'edge-heartbeats',
    title: `processor time of one relay for the heartbeats of ${streams} daemons every 30 s`,
    unit: '% of a processor',
    bar: { of: 'ours', atMost: 25 },
  },
  ({ heartbeats: { ours, bare } }) => ({ ours, extra: { '% of the bare server, which reads none': rounded(bare) } }),
);

export const edgeFleet = rowOf(
  {
    name: 'edge-fleet',
    title: `a fleet command to ${(full.streams / 2).toLocaleString('en')} hosts, from its create to its end; beside it a bare echo over NATS and gRPC streams`,
    unit: 'ms',
    bar: { of: 'ratio', atMost: 4 },
  },
  ({ fleet }) => {
    const ours = median(fleet.map((turn) => turn.ours));
    return { ours, baseline: ours / median(fleet.map((turn) => turn.ours / turn.bare)) };
  },
);

export const edgeRate = rowOf(
  {
    name: 'edge-commands',
    title: `${full.rate.perSecond.toLocaleString('en')} commands a second to one relay: 99 % of the results are stored within`,
    unit: 'ms',
    bar: { of: 'ours', atMost: 100 },
  },
  ({ rate: { times, failed, cpuMicros } }) => ({
    // A command without a result is not within any time.
    ours: failed > times.length / 100 ? Number.POSITIVE_INFINITY : percentile(times, 0.99),
    extra: {
      'median ms': rounded(percentile(times, 0.5)),
      failed,
      'CPU-microseconds of the relay for each': Math.round(cpuMicros),
    },
  }),
);

export const edgeReconnect = rowOf(
  {
    name: 'edge-reconnect',
    title: `${streams} daemons are back once their restarted relay serves; beside them those of a bare grpc-js server that was away as long`,
    unit: 's',
    bar: { of: 'ratio', atMost: 2 },
  },
  ({ reconnects }) => {
    const ours = median(reconnects.map((turn) => turn.ours.seconds));
    const refused = reconnects.flatMap((turn) => Object.values(turn.ours.refused)).reduce((sum, one) => sum + one, 0);
    return {
      ours,
      baseline: ours / median(reconnects.map((turn) => turn.ours.seconds / turn.bare.seconds)),
      extra: { 'attempts refused': refused },
    };
  },
);

export const edgeReconnectWrites = rowOf(
  {
    name: 'edge-reconnect-writes',
    title: `writes of EdgeHost objects by such a restart`,
    unit: 'writes',
    bar: { of: 'ours', atMost: 100 },
  },
  ({ reconnects }) => ({ ours: Math.max(...reconnects.map(({ writes }) => writes)) }),
);

export const edgeQuiet = rowOf(
  {
    name: 'edge-quiet',
    title: `writes of EdgeHost objects while ${streams} daemons send nothing but heartbeats (two minutes, or --quiet SECONDS)`,
    unit: 'writes',
    bar: { of: 'ours', atMost: 0 },
  },
  ({ quietWrites, quietSeconds, lagSeconds }) => ({
    ours: quietWrites,
    extra: { seconds: quietSeconds, 'seconds until the connects were written': rounded(lagSeconds) },
  }),
);
