import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { findAgain, type KubeClient } from '../../lib/kube/index.ts';

/** Gives an execution of the cache with all that was stripped from it; undefined when it is there no more. */
export type WholeExecutions = (execution: WorkflowExecution) => Promise<WorkflowExecution | undefined>;

/** Characters of JSON that are kept of executions read last. */
const budget = 16 * 1024 * 1024;

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
  readonly length: number;
  /** Changed in place: taking the entry out and in again would leave an old table behind every few reads (ADR 0029). */
  wasUsed: boolean;
}

/** The executions used last, as many as the budget holds. */
function createKept() {
  const entries = new Map<string, Entry>();
  let total = 0;
  const drop = (key: string): void => {
    total -= entries.get(key)?.length ?? 0;
    entries.delete(key);
  };
  const put = (key: string, entry: Entry): void => {
    drop(key);
    entries.set(key, entry);
    total += entry.length;
  };
  const makeRoom = (length: number): void => {
    for (const [key, entry] of entries) {
      if (total + length <= budget) return;
      drop(key);
      if (entry.wasUsed) put(key, { ...entry, wasUsed: false });
    }
  };
  return {
    get(key: string): WorkflowExecution | undefined {
      const entry = entries.get(key);
      if (entry !== undefined) entry.wasUsed = true;
      return entry?.execution;
    },
    add(execution: WorkflowExecution): void {
      const { length } = JSON.stringify(execution);
      makeRoom(length);
      put(versionOf(execution), { execution, length, wasUsed: false });
    },
  };
}
