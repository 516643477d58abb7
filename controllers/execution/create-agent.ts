import type { AgentExecution, AgentExecutionSpec } from '../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { agentExecutions } from '../../lib/kinds.ts';
import { ownedObject } from './create-child.ts';
import { type CreateNamedDeps, createNamed } from './create-named.ts';

interface Wish {
  readonly name: string;
  readonly spec: AgentExecutionSpec;
}

/** The agent of one visit of a state, or one of its judges, made once. Only the controllers write `spec.parent`. */
export async function createAgent(
  deps: CreateNamedDeps,
  parent: WorkflowExecution,
  { name, spec }: Wish,
): Promise<AgentExecution | undefined> {
  return createNamed(deps, parent, {
    resource: agentExecutions,
    name,
    build: (as) => ownedObject(parent, 'AgentExecution', { name: as, spec }),
    isOurs: (there) => placeOf(there.spec) === placeOf(spec),
  });
}

/** Which visit it is for, or which judge of it. */
const placeOf = ({ parent }: AgentExecutionSpec): string =>
  JSON.stringify([parent?.uid, parent?.state, parent?.visit, parent?.judge]);
