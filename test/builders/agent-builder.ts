import { apiVersion } from '../../crds/labels.ts';
import type { Agent, AgentSpec } from '../../crds/schema/agent.ts';

/** A small agent of namespace `tenant-a`; its uid follows from its name. */
export function anAgent(
  name = 'reviewer',
  spec: Partial<AgentSpec> = {},
  metadata: Partial<Agent['metadata']> = {},
): Agent {
  return {
    apiVersion,
    kind: 'Agent',
    metadata: { name, namespace: 'tenant-a', uid: `uid-of-${name}`, resourceVersion: '1', generation: 1, ...metadata },
    spec: { version: '1.0.0', runtime: { model: 'default' }, task: { instruction: 'Review {{input}}.' }, ...spec },
  };
}
