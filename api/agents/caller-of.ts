import type { AgentMount, AgentSpec } from '../../crds/schema/agent.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { annotations } from '../../crds/labels.ts';
import { mountsOf } from '../../lib/agent/mounts.ts';
import { defaultContext } from '../../lib/agent/security-context.ts';
import type { Mount } from '../../lib/tools/tool.ts';
import type { AgentCaller, ToolSigner } from './registered/index.ts';
import { toolSessionId } from './registered/tool-sessions.ts';

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
  const { namespace = '', uid: executionId = '', annotations: notes = {} } = metadata;
  return {
    tenant,
    namespace,
    subject: notes[annotations.startedBy] ?? `agent:${name}`,
    executionId,
    deadline: status?.deadline,
    agent: { name, uid, spec },
    security,
    mounts: [workspace, ...mountsOf(spec, asked).map(toMount)],
    signer: signerOf(name, executionId, spec),
  } satisfies AgentCaller;
}

const signerOf = (name: string, executionId: string, { security, tools = [] }: AgentSpec): ToolSigner => ({
  session: toolSessionId(executionId),
  name,
  context: security?.context ?? defaultContext,
  tools: tools.map((tool) => tool.name),
});

const toMount = ({ volume, mount_path: path, access_mode: mode }: AgentMount): Mount => ({
  volume,
  path,
  writable: mode === 'read-write',
});
