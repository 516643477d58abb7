import type { FleetRun, StoredPart } from '../../../../crds/schema/fleet-run.ts';
import { commandIdOf } from '../../../../lib/edge/index.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import type { SkippedHost } from '../../../../lib/fleet/selector.ts';
import { valueOf } from '../../../../lib/output-store/blob-value.ts';
import type { NodeRecord, RunRecords } from './ports.ts';
import { isEnded } from './present.ts';

interface FrozenTargets {
  readonly resolved: readonly { readonly node_id: string }[];
  readonly skipped: readonly SkippedHost[];
}

/** Records of runs in the output store. Only the controllers write what a status names, and its hash is checked. */
export function createRunRecords(outputs: OutputReader): RunRecords {
  const read = async (run: FleetRun, { ref, bytes }: StoredPart): Promise<unknown> =>
    valueOf(await outputs(run)({ ref, bytes }), { ref, encoding: 'json' });
  const targets = async (run: FleetRun): Promise<FrozenTargets> => {
    const part = isLost(run) ? undefined : run.status?.targets_ref;
    return part === undefined ? { resolved: [], skipped: [] } : ((await read(run, part)) as FrozenTargets);
  };
  return {
    targets,
    async perNode(run) {
      const byNode = new Map<string, NodeRecord>();
      for (const part of (isLost(run) ? undefined : run.status?.per_node_ref) ?? []) {
        for (const record of (await read(run, part)) as readonly NodeRecord[]) byNode.set(record.node_id, record);
      }
      const { resolved } = await targets(run);
      const isOver = isEnded(run);
      return resolved.flatMap(({ node_id }) => byNode.get(node_id) ?? (isOver ? [notStarted(run, node_id)] : []));
    },
  };
}

/** A run that ended because its record is gone: its summary is all that is left. */
const isLost = ({ status }: FleetRun): boolean => status?.reason === 'RecordLost';

const notStarted = ({ metadata }: FleetRun, node_id: string): NodeRecord => ({
  node_id,
  command_id: commandIdOf(metadata.uid ?? '', node_id),
  outcome: 'not_started',
  exit_code: null,
  duration_ms: null,
  stdout_tail: '',
  stderr_tail: '',
});
