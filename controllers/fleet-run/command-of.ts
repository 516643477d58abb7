import { commandIdOf } from '../../lib/edge/index.ts';
import type { FleetCommand } from './ports.ts';
import type { RunSession } from './session.ts';

/** The command of a run for one of its hosts. */
export function commandOf({ run, uid, tenant, policy, target }: RunSession, node: string): FleetCommand {
  return {
    commandId: commandIdOf(uid, node),
    run: uid,
    tenant,
    target: target(node),
    tool: run.spec.tool,
    args: run.spec.args ?? {},
    securityContext: run.spec.security_context ?? 'default',
    deadlineSecs: policy.per_target_deadline_secs,
    author: run.spec.requested_by,
  };
}
