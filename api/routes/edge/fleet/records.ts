import type { EventBus } from '../../../../lib/bus/index.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import { readOpenRecords } from '../../../../lib/fleet/open-records.ts';
import { type PartReader, readPerNode, readTargets } from '../../../../lib/fleet/run-record.ts';
import { valueOf } from '../../../../lib/output-store/blob-value.ts';
import type { RunRecords } from './ports.ts';

interface RecordDeps {
  readonly outputs: OutputReader;
  readonly bus: Pick<EventBus, 'request'>;
}

/** Records of runs in the output store, and what the process that drives a run has not stored yet. */
export function createRunRecords({ outputs, bus }: RecordDeps): RunRecords {
  const read: PartReader = async (run, { ref, bytes }) =>
    valueOf(await outputs(run)({ ref, bytes }), { ref, encoding: 'json' });
  return {
    targets: (run) => readTargets(read, run),
    open: (uid) => readOpenRecords(bus, uid),
    perNode: (run, open) => readPerNode(read, run, open),
  };
}
