import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { findAgain, type KubeClient } from '../../lib/kube/index.ts';

/** Gives an execution of the cache with all that was stripped from it; undefined when it is there no more. */
export type WholeExecutions = (execution: WorkflowExecution) => Promise<WorkflowExecution | undefined>;

/** Bytes of JSON that are kept of executions read last. */
const budgetBytes = 16 * 1024 * 1024;

/**
 * One that runs is whole in the cache. One that has ended is read from the server; those read last are kept, and any
 * number of readers of one execution share the reading.
 */
export function createWholeExecutions(kube: Pick<KubeClient, 'get'>): WholeExecutions {
  const kept = createKept();
  const underWay = new Map<string, Promise<WorkflowExecution | undefined>>();
  const read = async (execution: WorkflowExecution): Promise<WorkflowExecution | undefined> => {
    const whole = await findAgain(kube, workflowExecutions, execution);
    if (whole !== undefined) kept.add(whole);
    return whole;
  };
  return async (execution) => {
    if (!finished(execution)) return execution;
    const key = versionOf(execution);
    const known = kept.get(key) ?? underWay.get(key);
    if (known !== undefined) return known;
    const answer = read(execution).finally(() => underWay.delete(key));
    underWay.set(key, answer);
    return answer;
  };
}

/** An object at one moment. */
const versionOf = ({ metadata }: WorkflowExecution): string => `${metadata.uid}@${metadata.resourceVersion}`;

interface Entry {
  readonly execution: WorkflowExecution;
  readonly bytes: number;
}

/** The executions used last, as many as the budget holds. */
function createKept() {
  const entries = new Map<string, Entry>();
  let total = 0;
  const drop = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entries.delete(key)) total -= entry?.bytes ?? 0;
    return entry;
  };
  const put = (key: string, entry: Entry): void => {
    drop(key);
    entries.set(key, entry);
    total += entry.bytes;
  };
  return {
    get(key: string): WorkflowExecution | undefined {
      const entry = drop(key);
      if (entry !== undefined) put(key, entry);
      return entry?.execution;
    },
    add(execution: WorkflowExecution): void {
      put(versionOf(execution), { execution, bytes: JSON.stringify(execution).length });
      for (const key of entries.keys()) {
        if (total <= budgetBytes) return;
        drop(key);
      }
    },
  };
}
