import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { createWakesByUid } from '../../../lib/informer/index.ts';
import type { Informers } from '../../cluster/index.ts';
import type { ExecutionNews } from './follow.ts';

/** Wakes the followers of an execution at each change of its object. */
export function createExecutionNews(informer: Pick<Informers['agentExecutions'], 'cache' | 'onChange'>): ExecutionNews {
  const wakes = createWakesByUid<AgentExecution>(informer);
  return {
    current: (uid) => informer.cache.getByUid(uid),
    onChange: (uid, wake) => wakes.onChange(uid, wake),
  };
}
