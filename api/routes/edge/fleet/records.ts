import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import type { EventBus } from '../../../../lib/bus/index.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { hasReason } from '../../../../lib/errors.ts';
import { createFairPool } from '../../../../lib/fair-pool.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import type { NodeRecord } from '../../../../lib/fleet/node-record.ts';
import { readOpenRecords } from '../../../../lib/fleet/open-records.ts';
import {
  assertWhole,
  isLost,
  type PartReader,
  type PartTurn,
  pagesOfRecords,
  partsOfNodes,
  readPerNode,
  readTargets,
  recordPartBytes,
} from '../../../../lib/fleet/run-record.ts';
import { bytesOf } from '../../../../lib/memory-budget/index.ts';
import { valueOf } from '../../../../lib/output-store/blob-value.ts';
import type { PageQuery, RunRecords } from './ports.ts';
import { isEnded } from './present.ts';

interface RecordDeps {
  readonly clock: Clock;
  readonly outputs: OutputReader;
  readonly bus: Pick<EventBus, 'request'>;
}

/** Records of runs in the output store, and what the process that drives a run has not stored yet. */
export function createRunRecords({ clock, outputs, bus }: RecordDeps): RunRecords {
  const turns = createFairPool({ size: bytesOf('records of fleet runs'), clock });
  const read: PartReader = async (run, { ref, bytes }) =>
    valueOf(await outputs(run)({ ref, bytes }), { ref, encoding: 'json' });
  const bytesOfPart: PartReader = (run, { ref, bytes }) => outputs(run)({ ref, bytes });
  const turnOf =
    (run: FleetRun): PartTurn =>
    (task) =>
      turns.run({ tenant: run.metadata.namespace ?? '', cost: recordPartBytes }, task);
  return {
    targets: (run) => unlessLost(run, () => readTargets(read, run, turnOf(run)), { resolved: [], skipped: [] }),
    open: (uid) => readOpenRecords(bus, uid),
    // Without one part its hosts would look as if they had never started.
    perNode: async (run, open) =>
      isLost(run)
        ? undefined
        : unlessLost<NodeRecord[] | undefined>(
            run,
            () => readPerNode(read, run, { open: open ?? [], inTurn: turnOf(run) }),
            undefined,
          ),
    async parts(run, open) {
      if (isLost(run)) return undefined;
      const isWhole = async () => assertWhole(bytesOfPart, run, turnOf(run)).then(() => true);
      return (await unlessLost(run, isWhole, false)) ? partsOfNodes(read, run, open, turnOf(run)) : undefined;
    },
    async *pages<T extends object>(run: FleetRun, query: PageQuery<T>) {
      const pages = pagesOfRecords(read, run, { ...query, inTurn: turnOf(run) });
      for (;;) {
        const { value = [], done } = await unlessLost(run, () => pages.next(), { value: [], done: true });
        if (done === true) return;
        yield value;
      }
    },
  };
}

/**
 * A run whose record is gone has its summary alone: the controllers ended it for that, or the record was
 * deleted after the end of the run.
 */
async function unlessLost<T>(run: FleetRun, read: () => Promise<T>, none: T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isEnded(run) && hasReason(error, 'OutputLost')) return none;
    throw error;
  }
}
