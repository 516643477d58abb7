import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { slimAgentExecution } from '../../lib/agent/slim-agent-execution.ts';
import { createInformer, createWholeObjects, type Informer } from '../../lib/informer/index.ts';
import { agentExecutions } from '../../lib/kinds.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';

/** Bytes of heap for whole versions: those used last spare a request. */
const keptBytes = bytesOf('whole agent executions');

/**
 * `parentUid`: uid of the WorkflowExecution that started it; `agent`: name or uid of the Agent as it was asked for;
 * `revision`: the ControllerRevision that it runs, as `namespace/name`.
 */
type AgentExecutionIndex = 'parentUid' | 'agent' | 'revision';

/** Slim: a version in full is read by `whole` and `use`. */
export const agentExecutionInformer: InformerSpec<Informer<AgentExecution, AgentExecutionIndex>> = {
  name: 'agentExecutions',
  kind: 'AgentExecution',
  open: (deps) =>
    createInformer(deps, {
      resource: agentExecutions,
      parse: withSpec,
      sparesOwn: true,
      wholes: createWholeObjects({
        kube: deps.kube,
        clock: deps.clock,
        resource: agentExecutions,
        slim: slimAgentExecution,
        // One that has ended is read by its parent alone.
        isSpared: ({ spec }) => spec.parent !== undefined,
        keptBytes,
      }),
      indexes: {
        parentUid: ({ spec }) => (spec.parent === undefined ? [] : [spec.parent.uid]),
        agent: ({ spec }) => [spec.agent],
        revision: (execution) => idsOf(agentRevisionKey(execution)),
      },
    }),
};

const idsOf = (id: string | undefined): string[] => (id === undefined ? [] : [id]);

/** `namespace/name` of the revision that an execution runs. */
export function agentRevisionKey({ status }: AgentExecution): string | undefined {
  return status?.agent === undefined ? undefined : `${status.agent.namespace}/${status.agent.revision}`;
}
