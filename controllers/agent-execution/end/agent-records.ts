import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { writeAgentRecord } from '../../../lib/archive/agent-record.ts';
import { archiveLimits } from '../../../lib/archive/limits.ts';
import { agentRowOf } from '../../../lib/archive/row.ts';
import { busLimits, type TenantLogs } from '../../../lib/bus/index.ts';
import { logTenantOf } from '../../../lib/conversation/place.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import type { RecordKind } from '../../archiving/archives.ts';
import type { TurnGate } from '../../runtime/turn-gate.ts';

interface AgentRecordsDeps {
  readonly logs: Pick<TenantLogs, 'read'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly turns: TurnGate;
}

/** Records of executions of agents, with their conversations. */
export function agentRecords({ logs, tenants, turns }: AgentRecordsDeps): RecordKind<AgentExecution> {
  return {
    // How long a conversation is shows when it is read.
    bytesOf: () => archiveLimits.valuesBytes,
    rowOf: agentRowOf,
    write(execution) {
      const { uid: key = '', namespace = '' } = execution.metadata;
      const tenant = logTenantOf(execution, tenants);
      return writeAgentRecord(
        execution,
        async (after) => (tenant === undefined ? [] : logs.read({ tenant, key, after, bytes: busLimits.pageBytes })),
        () => turns.enter(namespace),
      );
    },
  };
}
