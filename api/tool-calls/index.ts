import type { AuditTrail, EventBus } from '../../lib/bus/index.ts';
import type { CallCounter } from '../../lib/envelope/index.ts';
import { catalogue } from '../../lib/tools/catalogue/catalogue.ts';
import type { Toolbox } from '../../lib/tools/tool.ts';
import type { RegisteredToolSource } from '../agents/registered/index.ts';
import type { ApiDeps } from '../api-deps.ts';
import type { Cluster } from '../cluster/index.ts';
import { keyedTools } from '../tools/execution-tools.ts';
import { createArgumentRoom } from './argument-room.ts';
import { callerOf } from './caller-of.ts';
import { execute } from './execute.ts';
import { createHolders } from './holders.ts';
import { createToolCalls, type ToolCalls } from './tool-calls.ts';

export type { ToolCalls } from './tool-calls.ts';

interface OpenDeps extends Pick<ApiDeps, 'clock' | 'kube' | 'logger' | 'newId'> {
  readonly bus: EventBus;
  readonly cluster: Pick<Cluster, 'informers' | 'tenants'>;
  readonly toolbox: Toolbox;
  readonly registered: RegisteredToolSource;
  readonly calls: CallCounter;
  readonly audit: AuditTrail;
  /** How long calls that cannot be made again may go on once this replica is to end. */
  readonly graceMs: number;
}

/** Tool calls of workflows, over the tools of this process and those of the gateway. */
export function openToolCalls(deps: OpenDeps): ToolCalls {
  const { kube, cluster } = deps;
  const { tenants, informers } = cluster;
  const executing = {
    ...deps,
    room: createArgumentRoom(deps.clock),
    callerOf: (call: Parameters<typeof callerOf>[1]) => callerOf({ kube, tenants }, call),
  };
  return createToolCalls({
    ...deps,
    informer: informers.toolCalls,
    holders: createHolders(deps),
    isRepeatable: (tool) => keyedTools.has(tool) || catalogue.get(tool)?.idempotent === true,
    execute: (call, signal) => execute(executing, call, signal),
  });
}
