import type { AgentExecution, AgentResult } from '../../crds/schema/agent-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { exponential } from '../../lib/informer/backoff.ts';
import { agentExecutions } from '../../lib/kinds.ts';
import { isConflict, isInvalid, isNotFound, type KubeClient } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { tryPaced } from '../../lib/retry.ts';

interface OutcomeDeps {
  readonly kube: Pick<KubeClient, 'jsonPatch'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const retry = { baseMs: 100, maxMs: 5_000, times: 20 } as const;

/**
 * Says once how an execution ended. The record of the conversation has it already: a replica that dies before this is done
 * leaves it to the next one.
 */
export async function writeOutcome(deps: OutcomeDeps, execution: AgentExecution, result: AgentResult): Promise<void> {
  const { kube, clock, logger } = deps;
  const { name, namespace = '', uid } = execution.metadata;
  const pauseAfter = (error: unknown, failures: number): number => {
    if (failures >= retry.times) throw error;
    if (!isConflict(error))
      logger.warn({ namespace, execution: name, problem: messageOf(error) }, 'outcome not written yet');
    return exponential(retry, failures - 1);
  };
  await tryPaced({ clock, pauseAfter }, async () => {
    try {
      await kube.jsonPatch(agentExecutions, { name, namespace }, [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'add', path: '/spec/result', value: result },
      ]);
    } catch (error) {
      // Gone, another object of that name, or the outcome was written before: it is immutable.
      if (!isNotFound(error) && !isInvalid(error)) throw error;
    }
  });
}
