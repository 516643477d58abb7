import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import type { Clock } from '../../../lib/clock.ts';
import { AppError, messageOf } from '../../../lib/errors.ts';
import { createFairPool, type FairPool } from '../../../lib/fair-pool.ts';
import { slimFleetRun } from '../../../lib/fleet/slim-fleet-run.ts';
import { fleetRuns } from '../../../lib/kinds.ts';
import { findAgain, type KubeClient } from '../../../lib/kube/index.ts';
import { bytesOf } from '../../../lib/memory-budget/index.ts';
import { createSharedReads } from '../../../lib/shared-reads.ts';
import type { HeapBudget } from '../heap-budget.ts';
import { fleetRunLimits } from '../limits.ts';

export type Args = Readonly<Record<string, unknown>>;

/**
 * Makes something of the arguments of a run, and does a task with it that may take its time. Rejects as one that is overloaded does where
 * they cannot be read: the task did not begin then. The signal ends the wait for them; behind that wait the run may have stopped.
 */
export type UseArgs = <M, R>(
  make: (args: Args) => Promise<M>,
  task: (made: M) => Promise<R>,
  signal: AbortSignal,
) => Promise<R>;

/** Makes the way to the arguments of a run, which is given in full. */
export type KeepArgs = (run: FleetRun, tenant: string) => UseArgs;

interface ArgumentsDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  /** Turns for their values: no tenant's hosts decide how long one takes. */
  readonly heapBudget: HeapBudget;
  /** Bytes of what is made of them, until the task is over. */
  readonly onTheWay: FairPool;
}

/** Values take up to so many bytes for one of JSON. */
const valueBytes = 10;

/** A command is a text, and twice on its way to a relay; each may take two bytes a character, and the bytes that leave take one. */
const copiesOnTheWay = 5;

/** Large arguments of commands whose relays have not answered. A tenant whose hosts read nothing holds up no other one. */
export const createArgumentPool = (clock: Clock, size: number = bytesOf('arguments on their way')): FairPool =>
  createFairPool({ size, clock, waitMs: fleetRunLimits.longestWaitMs });

/**
 * Small arguments are kept as text. Larger ones, whose values may take thirty times as much, are read where a command leaves: the
 * admission lets no writer change them. Commands that leave at one time share a reading. Their values are gone before a relay is asked
 * (ADR 0164).
 */
export function createKeepArgs(deps: ArgumentsDeps): KeepArgs {
  return (run, tenant) => {
    const text = JSON.stringify(run.spec.args ?? {});
    const bytes = Buffer.byteLength(text);
    return bytes <= fleetRunLimits.keptArgsBytes
      ? keptArgs(text)
      : largeArgs(deps, slimFleetRun(run), { tenant, bytes });
  };
}

// A closure keeps every variable that a closure of its block names. The closure of large arguments must not keep their text,
// so that of small ones has a block of its own.
const keptArgs =
  (text: string): UseArgs =>
  async (make, task) =>
    task(await make(JSON.parse(text) as Args));

function largeArgs(
  { kube, heapBudget, onTheWay }: ArgumentsDeps,
  run: FleetRun,
  { tenant, bytes }: { readonly tenant: string; readonly bytes: number },
): UseArgs {
  const read = createSharedReads(() => readArgs(kube, run));
  return async (make, task, signal) => {
    using _room = await onTheWay.enter({ tenant, cost: copiesOnTheWay * bytes, signal });
    const values = [{ bytes: valueBytes * bytes }];
    return await task(await heapBudget(tenant, values, async () => make(await read('')), signal));
  };
}

async function readArgs(kube: Pick<KubeClient, 'get'>, run: FleetRun): Promise<Args> {
  try {
    const found = await findAgain(kube, fleetRuns, run);
    if (found !== undefined) return found.spec.args ?? {};
  } catch (error) {
    throw unread(messageOf(error));
  }
  throw unread('the run is gone');
}

const unread = (why: string): AppError =>
  new AppError('unavailable', `the arguments of the run cannot be read: ${why}`, { reason: 'Overloaded' });
