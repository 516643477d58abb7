import type { AgentExecutionStatus } from '../../crds/schema/agent-execution.ts';
import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { KubeClient } from '../kube/index.ts';
import { pinnedContent } from '../registration/pinned-content.ts';
import { agentSpecOf } from '../registration/revision.ts';

/** `status.agent` of an AgentExecution. Only the controllers write it (admission policy `status-writes`). */
export type PinnedAgent = NonNullable<AgentExecutionStatus['agent']>;

/** The definition that an execution runs, as it was when it began. Undefined where it is gone, or not what the status claims. */
export async function pinnedAgent(
  kube: Pick<KubeClient, 'get'>,
  pin: PinnedAgent | undefined,
): Promise<AgentSpec | undefined> {
  const revision = pin && (await pinnedContent(kube, 'Agent', pin));
  return revision && agentSpecOf(revision);
}
