import { agentIterationsMax } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { judgedExecution, judgeExecutionName } from '../../../lib/agent/judged-execution.ts';
import { finished } from '../../../lib/execution/finished.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import type { End } from '../decide.ts';

/** A `Timeout` with the wait of the agent that judges the answer, such as for a place in a full quota. */
export function withWaitingJudge(
  executions: Pick<CacheReader<AgentExecution>, 'get'>,
  { metadata: { namespace, uid = '' } }: AgentExecution,
  end: End,
): End {
  if (end.reason !== 'Timeout') return end;
  for (let iteration = agentIterationsMax; iteration > 0; iteration -= 1) {
    const judge = executions.get(`${namespace}/${judgeExecutionName(uid, iteration)}`);
    if (judge === undefined || finished(judge) || judgedExecution(judge) !== uid) continue;
    const { reason, message = '' } = judge.status ?? {};
    if (reason === undefined) return end;
    return { ...end, message: `${end.message}; its judge ${judge.metadata.name} waited: ${reason}: ${message}` };
  }
  return end;
}
