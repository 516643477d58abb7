import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { judgedExecution } from '../../../lib/agent/judged-execution.ts';
import { lineageOf } from '../../../lib/agent/lineage.ts';
import type { Clock } from '../../../lib/clock.ts';
import { messageOf } from '../../../lib/errors.ts';
import { finished } from '../../../lib/execution/finished.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { findAgain, isFailedTest, type KubeClient, mayPass } from '../../../lib/kube/index.ts';
import type { Logger } from '../../../lib/logger.ts';
import { doublingWhile, tryPaced } from '../../../lib/retry.ts';

interface UnwantedJudgesDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly executions: { readonly cache: Pick<CacheReader<AgentExecution, 'family'>, 'getByUid' | 'byIndex'> };
}

/** About a minute and a half. A later change of the judge, or of what it judges, begins anew. */
const pauseAfter = doublingWhile(
  { baseMs: 100, maxMs: 5_000, times: 20 },
  (error) => mayPass(error) || isFailedTest(error),
);

export const isUnderWay = (execution: AgentExecution | undefined): execution is AgentExecution =>
  execution !== undefined &&
  execution.spec.result === undefined &&
  execution.metadata.deletionTimestamp === undefined &&
  !finished(execution);

/** The judges of an execution that are under way, as far as the cache knows. */
export function judgesUnderWay(
  { executions }: Pick<UnwantedJudgesDeps, 'executions'>,
  judged: AgentExecution,
): readonly AgentExecution[] {
  const family = executions.cache.byIndex('family', lineageOf(judged).root);
  return family.filter((one) => judgedExecution(one) === judged.metadata.uid && isUnderWay(one));
}

/** No verdict counts any more, or none is needed. */
const isOver = (execution: AgentExecution): boolean => execution.spec.cancel !== undefined || !isUnderWay(execution);

/**
 * Cancels judges whose verdict nothing waits for. Call with every version of every execution: a judge may show after the end
 * of what it judges, and a replica that begins finds ends that no other has acted on.
 */
export function createCancelUnwanted(deps: UnwantedJudgesDeps): (execution: AgentExecution) => void {
  const underWay = new Set<string>();
  const cancelOnce = async (judge: AgentExecution, judged: AgentExecution): Promise<void> => {
    const { uid = '' } = judge.metadata;
    if (isOver(judge) || underWay.has(uid)) return;
    underWay.add(uid);
    await cancel(deps, judge, judged);
    underWay.delete(uid);
  };
  return (execution) => {
    const judged = deps.executions.cache.getByUid(judgedExecution(execution) ?? '');
    if (judged !== undefined && isOver(judged)) void cancelOnce(execution, judged);
    if (isOver(execution)) for (const judge of judgesUnderWay(deps, execution)) void cancelOnce(judge, execution);
  };
}

/** The first writer counts. Never rejects. */
async function cancel(deps: UnwantedJudgesDeps, judge: AgentExecution, judged: AgentExecution): Promise<void> {
  const { kube, clock, logger } = deps;
  const { name, namespace = '', uid } = judge.metadata;
  const reason = `the execution ${judged.metadata.name}, whose answer it judges, has ended`;
  const attempt = async (): Promise<void> => {
    const latest = await findAgain(kube, agentExecutions, judge);
    if (latest === undefined || isOver(latest)) return;
    const at = new Date(clock.now()).toISOString();
    await kube.jsonPatch(agentExecutions, { namespace, name }, [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'test', path: '/metadata/resourceVersion', value: latest.metadata.resourceVersion },
      { op: 'add', path: '/spec/cancel', value: { by: 'windlass', at, via: 'api', reason } },
    ]);
  };
  try {
    await tryPaced({ clock, pauseAfter }, attempt);
  } catch (error) {
    logger.warn({ namespace, execution: name, problem: messageOf(error) }, 'judge not cancelled');
  }
}
