import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Cluster } from '../../cluster/index.ts';

interface AskedOf {
  /** The execution of a workflow, in full. */
  readonly state: { readonly kind: 'state'; readonly id: string; readonly execution: WorkflowExecution };
  /** The execution of an agent, without its texts. */
  readonly call: { readonly kind: 'call'; readonly id: string; readonly execution: AgentExecution };
}
export type AskedApproval<K extends keyof AskedOf = keyof AskedOf> = AskedOf[K];

/** The object that asks for the decision of that id, or got it last; undefined for another tenant's. */
export async function findAsked(
  { executions, agentAsks }: Pick<Cluster, 'executions' | 'agentAsks'>,
  tenant: string,
  id: string,
): Promise<AskedApproval | undefined> {
  const call = agentAsks.known(tenant, id);
  if (call !== undefined) return { kind: 'call', id, execution: call };
  const execution = await executions.asking(tenant, id);
  if (execution !== undefined) return { kind: 'state', id, execution };
  // Looked for last: what no cache knows takes longest to be found absent.
  const late = await agentAsks.find(tenant, id);
  return late === undefined ? undefined : { kind: 'call', id, execution: late };
}
