import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import { fleetRuns } from '../../lib/kinds.ts';
import { findAgain, type KubeClient } from '../../lib/kube/index.ts';
import { createSharedReads } from '../../lib/shared-reads.ts';
import { slimFleetRun } from '../../lib/fleet/slim-fleet-run.ts';
import { fleetRunLimits } from './limits.ts';
import type { PartTurns } from './part-turns.ts';

export type Args = Readonly<Record<string, unknown>>;

/**
 * Does a task with the arguments of a run. Rejects as one that is overloaded does where they cannot be read: the task did not begin then.
 * The signal ends the wait for them; behind that wait the run may have stopped.
 */
export type UseArgs = <R>(task: (args: Args) => Promise<R>, signal: AbortSignal) => Promise<R>;

/** Makes the way to the arguments of a run, which is given in full. */
export type KeepArgs = (run: FleetRun, tenant: string) => UseArgs;

interface ArgumentsDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly inTurn: PartTurns;
}

/** Values take up to so many bytes for one of JSON. */
const valueBytes = 10;

/**
 * Small arguments are kept as text. Larger ones, whose values may take thirty times as much, are read where a command leaves: the
 * admission lets no writer change them. Commands that leave at one time share a reading (ADR 0164).
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
  (task) =>
    task(JSON.parse(text) as Args);

function largeArgs(
  { kube, inTurn }: ArgumentsDeps,
  run: FleetRun,
  { tenant, bytes }: { readonly tenant: string; readonly bytes: number },
): UseArgs {
  const read = createSharedReads(() => readArgs(kube, run));
  return (task, signal) => inTurn(tenant, [{ bytes: valueBytes * bytes }], async () => task(await read('')), signal);
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
