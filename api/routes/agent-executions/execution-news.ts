import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Informers } from '../../cluster/index.ts';
import type { ExecutionNews } from './follow.ts';

/** Wakes the followers of an execution at each change of its object. */
export function createExecutionNews(informer: Pick<Informers['agentExecutions'], 'cache' | 'onChange'>): ExecutionNews {
  const listeners = new Map<string, Set<() => void>>();
  informer.onChange(({ before, after }) => {
    for (const wake of listeners.get(uidOf(after ?? before)) ?? []) wake();
  });
  return {
    current: (uid) => informer.cache.getByUid(uid),
    onChange(uid, wake) {
      const own = listeners.get(uid) ?? new Set();
      listeners.set(uid, own.add(wake));
      return () => {
        own.delete(wake);
        if (own.size === 0 && listeners.get(uid) === own) listeners.delete(uid);
      };
    },
  };
}

const uidOf = (execution: AgentExecution | undefined): string => execution?.metadata.uid ?? '';
