import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { ToolCaller } from '../../lib/tools/tool.ts';

interface CallerParts extends Partial<Omit<ToolCaller, 'agent'>> {
  /** Parts of the agent's spec; null: a caller without an agent. */
  readonly spec?: Partial<AgentSpec> | null;
}

/** A caller of tools in the tenant acme whose agent may use every tool in /workspace, unless the parts say otherwise. */
export function aToolCaller({ spec = {}, ...parts }: CallerParts = {}): ToolCaller {
  const whole: AgentSpec = {
    version: '1.0.0',
    runtime: {},
    task: { instruction: 'do it' },
    tools: ['cmd', 'fs.*', 'web.*', 'svc.*', 'svc.edge.*'].map((name) => ({ name })),
    ...spec,
  };
  return {
    tenant: 'acme',
    namespace: 'windlass-acme',
    subject: 'user-1',
    executionId: 'e-1',
    ...(spec === null ? {} : { agent: { name: 'coder', uid: 'a-1', spec: whole } }),
    security: {},
    mounts: [{ path: '/workspace', writable: true }],
    ...parts,
  };
}
