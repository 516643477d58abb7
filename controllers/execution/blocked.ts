import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Blockage } from './engine/facts.ts';

/** Executions whose last actions the API server refused and may still allow. After a restart it refuses them again. */
export interface Blocked {
  /** Why, by the uid of the execution. */
  why(uid: string): Blockage | undefined;
  add(execution: WorkflowExecution, failure: Blockage): void;
  forget(uid: string): void;
  /**
   * How long until an execution of a namespace is tried again, in milliseconds. Thousands may wait: together they ask once
   * a second. Those who want an object that a quota has no room for are woken when it has (`quota-gate.ts`).
   */
  retryMs(namespace: string): number;
}

const leastRetryMs = 10_000;
/** Between two tries in one namespace, on average. */
const apartMs = 1_000;

interface Entry {
  readonly namespace: string;
  readonly failure: Blockage;
}

export function createBlocked(): Blocked {
  const entries = new Map<string, Entry>();
  const counts = new Map<string, number>();
  const count = (namespace: string, change: 1 | -1): void => {
    const number = (counts.get(namespace) ?? 0) + change;
    if (number === 0) counts.delete(namespace);
    else counts.set(namespace, number);
  };
  return {
    why: (uid) => entries.get(uid)?.failure,
    add({ metadata: { uid = '', namespace = '' } }, failure) {
      if (!entries.has(uid)) count(namespace, 1);
      entries.set(uid, { namespace, failure });
    },
    forget(uid) {
      const entry = entries.get(uid);
      if (entry !== undefined) count(entry.namespace, -1);
      entries.delete(uid);
    },
    retryMs: (namespace) => Math.max(leastRetryMs, (counts.get(namespace) ?? 0) * apartMs),
  };
}
