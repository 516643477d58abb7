import process from 'node:process';
import { setImmediate as immediate } from 'node:timers/promises';

/** Limit of a turn of the event loop, in milliseconds of thread CPU (design §11). */
export const turnMs = 100;

/** Gives CPU time to a queue of others and says how long they kept it. */
interface Turns {
  /** Thread CPU milliseconds of the longest turn of the event loop so far. */
  readonly longestMs: number;
  stop(): void;
}

/**
 * Watches the turns of this thread's event loop, in CPU time, so that a busy machine does not count. Between two calls
 * of an immediate lies one turn: whatever timers, sockets and promises had to do.
 */
export function watchTurns(): Turns {
  let longest = 0;
  let isOver = false;
  let last = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.threadCpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return {
    get longestMs() {
      return longest;
    },
    stop() {
      isOver = true;
    },
  };
}

/** Thread CPU milliseconds of a synchronous call: the shortest of several, for garbage and cold functions are not there twice. */
export function cpuMsOf(run: () => unknown, runs = 3): number {
  const times = Array.from({ length: runs }, () => {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

const referenceText = JSON.stringify(Array.from({ length: 60_000 }, (_, index) => ({ [`k${index}`]: `v${index}` })));
/** The shortest of 80 runs of the reference work on the development machine at rest; the longest took 120. */
const referenceMs = 52;
/** Runs of the reference beside a long turn, as many as the turn has. */
const referenceRuns = 10;
const referenceWork = (): unknown => JSON.stringify(JSON.parse(referenceText));

/** Rounds of a measurement: at least, and at most where it is above its bound. */
const rounds = { least: 5, most: 20 };

/**
 * How many times slower than that shortest run this thread is now, at least 1. A neighbour on the same
 * core doubles thread CPU time, so a bound in milliseconds holds only beside a reference of the same moment.
 */
export function slowness(): number {
  let least = Number.POSITIVE_INFINITY;
  // A run as short as the shortest says 1, which none that follows can change.
  for (let run = 0; run < referenceRuns && least > referenceMs; run += 1)
    least = Math.min(least, cpuMsOf(referenceWork, 1));
  return Math.max(1, least / referenceMs);
}

/**
 * Thread CPU milliseconds of a synchronous call, as on the development machine at rest where they are not under the bound
 * as they are. The call and the reference take turns, so that both meet the same neighbours, and the shortest of each
 * counts: a neighbour makes a run dearer, never cheaper. A result that is not under the bound is measured on, in case the
 * neighbours leave. The reference makes a time smaller, never larger, so a time under the bound needs none.
 */
export function restedMsOf(run: () => unknown, boundMs: number): number {
  let [least, reference, rested] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds.least || (round < rounds.most && rested >= boundMs); round += 1) {
    least = Math.min(least, cpuMsOf(run, 1));
    if (least < boundMs) return least;
    reference = Math.min(reference, cpuMsOf(referenceWork, 2));
    rested = least / Math.max(1, reference / referenceMs);
  }
  return rested;
}

/**
 * Thread CPU milliseconds of the longest turn of the event loop while something runs, as on the development machine at
 * rest where they are not under the bound as they are. A turn that is not under the bound is measured again, and the
 * shortest counts: garbage and neighbours make it longer, never shorter.
 */
export async function restedTurnMs(run: () => Promise<unknown>, boundMs: number): Promise<number> {
  let rested = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds.least && rested >= boundMs; round += 1) {
    const turns = watchTurns();
    try {
      await run();
      // The turn in which it ended counts as well: work that never left its turn is in no other.
      await immediate();
      const { longestMs } = turns;
      // The first runs compile. A second one costs less than the reference does.
      const isFair = longestMs < boundMs || round === 0;
      rested = Math.min(rested, isFair ? longestMs : longestMs / slowness());
    } finally {
      turns.stop();
    }
  }
  return rested;
}
