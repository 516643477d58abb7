import type { AgentSpec, SecurityContextSpec } from '../../crds/schema/agent.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { annotations } from '../../crds/labels.ts';
import type { Mount, ToolCaller } from '../../lib/tools/tool.ts';

interface Bounds {
  readonly tenant: string;
  readonly spec: AgentSpec;
  readonly security: SecurityContextSpec;
}

/** Working directory of every container of an agent (spec 3 §10.5). */
const workspace = { path: '/workspace', writable: true };

/** Whose tool calls those of an execution are: an agent acts for the user who started it (requirements AMB-194). */
export function callerOf({ metadata, spec: asked, status }: AgentExecution, { tenant, spec, security }: Bounds) {
  const { name = '', uid = '' } = status?.agent ?? {};
  return {
    tenant,
    namespace: metadata.namespace ?? '',
    subject: metadata.annotations?.[annotations.startedBy] ?? `agent:${name}`,
    executionId: metadata.uid ?? '',
    deadline: status?.deadline,
    agent: { name, uid, spec },
    security,
    mounts: [workspace, ...volumeMounts(asked)],
  } satisfies ToolCaller;
}

const volumeMounts = ({ volumes = [] }: AgentExecution['spec']): Mount[] =>
  volumes.map(({ volume, mount_path: path, access_mode: mode }) => ({ volume, path, writable: mode === 'read-write' }));
