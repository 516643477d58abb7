import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import { defined } from '../../lib/defined.ts';
import { isEnd } from '../../lib/execution/finished.ts';
import type { ToolCaller } from '../../lib/tools/tool.ts';
import type { Cluster } from '../cluster/index.ts';
import { isShown } from '../routes/executions/is-shown.ts';

/** How far an execution is, as the cache knows: a wait looks at that alone, and reads the whole once it is over. */
export interface ExecutionPhases {
  /** Undefined for one that the caller does not see, and for one of the archive: reading it tells which. */
  ofWorkflow(caller: ToolCaller, id: string, seesHelpers?: true): Promise<Phase | undefined>;
  ofAgent(caller: ToolCaller, id: string): Promise<Phase | undefined>;
}

type PhaseDeps = {
  readonly [Kind in 'executions' | 'agentExecutions']: Pick<Cluster[Kind], 'locate'>;
};

export function createExecutionPhases({ executions, agentExecutions }: PhaseDeps): ExecutionPhases {
  return {
    async ofWorkflow({ tenant, executionId: callingExecution }, id, seesHelpers) {
      const found = await executions.locate(tenant, id);
      if (found === undefined || !isShown(found, defined({ callingExecution, seesHelpers }))) return undefined;
      return found.status?.phase ?? 'pending';
    },
    async ofAgent({ tenant }, id) {
      const found = await agentExecutions.locate(tenant, id);
      return found && (found.status?.phase ?? 'pending');
    },
  };
}

/** Whether there is nothing to wait for. */
export const isOver = (phase: Phase | undefined): boolean => phase === undefined || isEnd(phase);
