import { limits } from '../../crds/limits.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { judgedExecution } from '../../lib/agent/judged-execution.ts';
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
  readonly agentExecutions: Pick<CacheReader<AgentExecution, 'family'>, 'getByUid' | 'byIndex'>;
  readonly executions: Pick<CacheReader<WorkflowExecution, 'family'>, 'getByUid' | 'byIndex'>;
}

export function createLineages({ agentExecutions, executions }: LineagesDeps): Lineages {
  const underWay = (root: string): number =>
    agentExecutions.byIndex('family', root).filter((one) => judgedExecution(one) === undefined).length +
    executions.byIndex('family', root).length;
  return {
    marksFor({ callingExecution }) {
      if (callingExecution === undefined) return {};
      const starter = agentExecutions.getByUid(callingExecution) ?? executions.getByUid(callingExecution);
      if (starter === undefined) throw tooLate();
      const below = lineageBelow(starter);
      if (underWay(below.root) >= limits.agentFamilyMax) throw tooMany();
      return lineageMarks(below);
    },
  };
}

/**
 * Annotations of the execution that judges an answer of this one. It needs no place in the family: those that fill it wait
 * for their judges (ADR 0147).
 * @throws HttpError where the judged execution is too far down its family.
 */
export const marksOfJudge = (judged: AgentExecution): Record<string, string> => lineageMarks(lineageBelow(judged));

/** @throws HttpError */
function lineageBelow(starter: AgentExecution | WorkflowExecution): Lineage {
  const { root, depth } = lineageOf(starter);
  if (depth >= limits.agentDepthMax) throw tooDeep(depth);
  return { root, depth: depth + 1 };
}

/**
 * Index `family` of both caches: the root of an execution that is under way. The first one of a family has no mark. A
 * walk over all executions for each start would take a turn that grows with those of every tenant.
 */
export function familyOf(execution: AgentExecution | WorkflowExecution): string[] {
  const { depth, root } = lineageOf(execution);
  return depth > 0 && !finished(execution) ? [root] : [];
}

const tooDeep = (depth: number): HttpError =>
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
