import { limits } from '../../crds/limits.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { type Lineage, lineageMarks, lineageOf } from '../../lib/agent/lineage.ts';
import { finished } from '../../lib/execution/finished.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import type { Caller } from '../../lib/identity/caller.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';

/** Which agents and workflows started which executions by tools, and how many they may start (ADR 0086, ADR 0096). */
export interface Lineages {
  /**
   * Annotations of what the caller starts: none for people and services.
   * @throws HttpError where the caller is an execution that is too far down its family, or whose family runs enough already.
   */
  marksFor(caller: Pick<Caller, 'callingExecution'>): Record<string, string>;
}

interface LineagesDeps {
  readonly agentExecutions: Pick<CacheReader<AgentExecution>, 'getByUid' | 'values'>;
  readonly executions: Pick<CacheReader<WorkflowExecution>, 'getByUid' | 'values'>;
}

export function createLineages({ agentExecutions, executions }: LineagesDeps): Lineages {
  const underWay = (root: string): number => {
    let count = 0;
    for (const cache of [agentExecutions, executions])
      for (const execution of cache.values()) if (goesOn(execution) && isOf(execution, root)) count += 1;
    return count;
  };
  return {
    marksFor({ callingExecution }) {
      if (callingExecution === undefined) return {};
      const starter = agentExecutions.getByUid(callingExecution) ?? executions.getByUid(callingExecution);
      if (starter === undefined) throw tooLate();
      const lineage = lineageOf(starter);
      if (lineage.depth >= limits.agentDepthMax) throw tooDeep(lineage);
      if (underWay(lineage.root) >= limits.agentFamilyMax) throw tooMany();
      return lineageMarks({ root: lineage.root, depth: lineage.depth + 1 });
    },
  };
}

const goesOn = (execution: AgentExecution | WorkflowExecution): boolean => !finished(execution);

/** The first one has no mark. */
const isOf = (execution: AgentExecution | WorkflowExecution, root: string): boolean => {
  const lineage = lineageOf(execution);
  return lineage.depth > 0 && lineage.root === root;
};

const tooDeep = ({ depth }: Lineage): HttpError =>
  new HttpError({
    code: 'limit_exceeded',
    status: 422,
    error: 'agent_depth_exceeded',
    message: `${depth} agents started one another down to this one, which may start none; do the work here, or answer`,
  });

const tooMany = (): HttpError =>
  new HttpError({
    code: 'limit_exceeded',
    status: 429,
    error: 'agent_family_full',
    message: `${limits.agentFamilyMax} executions that this agent and those below it started are under way; wait until one ends`,
  });

const tooLate = (): HttpError =>
  new HttpError({ code: 'conflict', message: 'the execution that calls has ended, so it starts nothing more' });
