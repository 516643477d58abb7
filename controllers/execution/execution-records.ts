import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { valuesBytesOf, writeRecord } from '../../lib/archive/record.ts';
import { rowOf } from '../../lib/archive/row.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import type { RecordKind } from '../archiving/archives.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';

/** Records of executions of workflows, with their values from the output store. */
export function executionRecords(outputs: Pick<OutputStore, 'get'>, turns: TurnGate): RecordKind<WorkflowExecution> {
  return {
    bytesOf: valuesBytesOf,
    rowOf,
    write(execution) {
      const { uid = '', namespace = '' } = execution.metadata;
      return writeRecord(
        execution,
        ({ ref, bytes }) => outputs.get(namespace, { executionUid: uid, ref, bytes, encoding: 'text' }),
        () => turns.enter(namespace),
      );
    },
  };
}
