import { pause } from '../../../test/cluster/harness/wait.ts';
import { processCpuSeconds, residentMiB } from '../machine.ts';
import type { EdgeSide } from './edge-world.ts';

/** As spec 2 §4.1 has it. */
const heartbeatMs = 30_000;
/** Memory is read when the heartbeats of all have come once, so that nothing of the opening is under way any more. */
const settlesMs = heartbeatMs + 10_000;

export interface HeldStreams {
  /** KiB that each of nine tenths of the streams adds to a tenth of them. */
  readonly eachKiB: number;
  /** Resident memory of the process that holds them all, in MiB. */
  readonly allMiB: number;
}

/**
 * Opens a tenth of the streams, and then all of them, which stay open: the first have loaded and compiled what all of them
 * use. The answer reads the memory at its own time. No garbage is collected on request.
 */
export async function holdStreams({ holder, daemons }: EdgeSide, streams: number): Promise<() => Promise<HeldStreams>> {
  const open = async (count: number): Promise<void> => {
    await daemons.connect(count, heartbeatMs);
    await holder.holds(count);
    await pause(settlesMs);
  };
  const first = Math.ceil(streams / 10);
  await open(first);
  const before = await residentMiB(holder.pid);
  await daemons.disconnect();
  await holder.holds(0);
  await open(streams);
  return async () => {
    const allMiB = await residentMiB(holder.pid);
    return { eachKiB: ((allMiB - before) * 1_024) / (streams - first), allMiB };
  };
}

/** Processor time of the server while its streams send nothing but heartbeats, in per cent of one processor. */
export async function heartbeatLoad(sides: readonly EdgeSide[], seconds: number): Promise<number[]> {
  const used = (): Promise<number[]> => Promise.all(sides.map(({ holder }) => processCpuSeconds(holder.pid)));
  const before = await used();
  await pause(seconds * 1_000);
  const after = await used();
  return after.map((cpu, index) => ((cpu - (before[index] ?? 0)) * 100) / seconds);
}

export interface Reconnected {
  /** From the moment at which the new process serves until all streams are open again. */
  readonly seconds: number;
  /** From the signal that ends the former process, and with it the streams, until the new one serves. */
  readonly downSeconds: number;
  /** Attempts that the new process refused, by its words. */
  readonly refused: Readonly<Record<string, number>>;
}

/**
 * Restarts the server; its daemons come back by themselves, after pauses by chance as the real daemon has them. Those double
 * with each vain attempt, so that a bare server starts only when it is away for as long as the relay was: `downSeconds`.
 */
export async function reconnect({ holder, daemons }: EdgeSide, streams: number, downSeconds = 0): Promise<Reconnected> {
  const ended = performance.now();
  await holder.stop();
  // The last messages of the former process have come by then.
  await pause(startsMs);
  const { ends: before } = await daemons.counts();
  await pause(Math.max(0, ended + downSeconds * 1_000 - startsMs - performance.now()));
  await holder.start();
  await holder.answers();
  const down = (performance.now() - ended) / 1_000;
  const seconds = (await holder.holds(streams)) / 1_000;
  const { ends } = await daemons.counts();
  const since = Object.entries(ends).map(([cause, count]) => [cause, count - (before[cause] ?? 0)] as const);
  const refused = Object.fromEntries(since.filter(([cause, count]) => count > 0 && !isNoServer(cause)));
  return { seconds, downSeconds: down, refused };
}

/** About as long as a bare server takes to start, and as the last words of a server take to be read. */
const startsMs = 1_000;

/** No server listened yet, or the connection to the former one broke. */
const isNoServer = (cause: string): boolean =>
  /^Unavailable: (connection error|error reading|closing transport)/.test(cause);
