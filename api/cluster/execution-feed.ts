import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Logger } from '../../lib/logger.ts';

/** Callbacks of a listener to the watch of executions. */
export interface ExecutionListener {
  /** A version of an execution with all that it holds, also where the cache keeps less of it. */
  seen(execution: WorkflowExecution): void;
  /** The execution of that id is gone. */
  gone(uid: string): void;
}

/** Tells what the watch brings. A version may come twice or late, and after an outage only the last one comes. */
export interface ExecutionFeed {
  /** From now on. */
  listen(listener: ExecutionListener): void;
}

/** The feed, and where the informer puts in what it gets. */
interface FeedSource extends ExecutionFeed, ExecutionListener {}

/** A listener's exception is its own defect; the informer must not take the object for a broken one. */
export function createExecutionFeed(logger: Logger): FeedSource {
  const listeners: ExecutionListener[] = [];
  const tell = (news: (listener: ExecutionListener) => void): void => {
    for (const listener of listeners) {
      try {
        news(listener);
      } catch (err) {
        logger.error({ err }, 'execution listener failed');
      }
    }
  };
  return {
    listen: (listener) => void listeners.push(listener),
    seen: (execution) => tell((listener) => listener.seen(execution)),
    gone: (uid) => tell((listener) => listener.gone(uid)),
  };
}
