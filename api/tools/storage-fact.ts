import type { BusEvent } from '../../lib/bus/event-bus.ts';
import type { Clock } from '../../lib/clock.ts';
import type { NewId } from '../../lib/ids.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { ToolCaller } from '../../lib/tools/tool.ts';

interface StorageFactDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
}

export interface StorageUse {
  readonly tool: string;
  readonly operation: 'read' | 'write';
  readonly volume: { readonly uid: string; readonly name: string };
  /** Absolute, from the root of the volume. */
  readonly path: string;
  readonly outcome: 'ok' | 'error' | 'denied';
}

/**
 * requirements AMB-199. It holds the path, and nothing of the content. Where the call may be made again, all of its attempts
 * have one id, so that the bus keeps one event of them.
 */
export function storageFact(
  { clock, newId, tenants }: StorageFactDeps,
  { executionId = '', callKey, callId, agent, tenant }: ToolCaller,
  { tool, operation, volume, path, outcome }: StorageUse,
): BusEvent {
  const call = callKey ?? callId ?? newId();
  return {
    id: executionId === '' ? call : `${executionId}-storage-${call}`,
    topic: 'volume',
    source: 'api',
    type: 'StorageEvent',
    subject: executionId || volume.uid,
    tenant,
    time: new Date(clock.now()).toISOString(),
    data: {
      operation,
      tool,
      volume: volume.name,
      path: path.slice(0, 1_024).toWellFormed(),
      outcome,
      execution_id: executionId,
      agent_id: agent?.uid,
      namespace: tenants.namespaceOf(tenant),
    },
  };
}
