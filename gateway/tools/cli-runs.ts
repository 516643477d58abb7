import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { AppError } from '../../lib/errors.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { Informer } from '../../lib/informer/index.ts';

/** One execution of one call. */
export interface CliRun {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Waits for executions of CLI tools, which one watch follows for all calls of this process. */
export interface CliRuns {
  /**
   * Resolves when the execution has ended.
   * @throws AppError `not_found` where it was deleted before its end, and the reason of `signal` where that aborts.
   */
  ended(run: CliRun, signal: AbortSignal): Promise<void>;
}

type Runs = Pick<Informer<WorkflowExecution, never>, 'onChange'> & {
  readonly cache: Pick<Informer<WorkflowExecution, never>['cache'], 'get'>;
};

const keyOf = ({ namespace, name }: Pick<CliRun, 'namespace' | 'name'>): string => `${namespace}/${name}`;

/** Call before the informer runs. */
export function createCliRuns(runs: Runs): CliRuns {
  const waiting = new Map<string, (execution: WorkflowExecution | undefined) => void>();
  runs.onChange(({ before, after }) => {
    const { namespace = '', name } = (after ?? before)?.metadata ?? { name: '' };
    waiting.get(keyOf({ namespace, name }))?.(after);
  });
  return {
    ended(run, signal) {
      const key = keyOf(run);
      return new Promise<void>((resolve, reject) => {
        const stop = (): void => settle(() => reject(signal.reason));
        const settle = (end: () => void): void => {
          waiting.delete(key);
          signal.removeEventListener('abort', stop);
          end();
        };
        if (signal.aborted) return stop();
        signal.addEventListener('abort', stop, { once: true });
        waiting.set(key, (execution) => {
          if (execution?.metadata.uid !== run.uid) return settle(() => reject(lost(run)));
          if (finished(execution)) settle(resolve);
        });
        // The watch may have been faster than the answer to the create.
        const known = runs.cache.get(key);
        if (known?.metadata.uid === run.uid && finished(known)) settle(resolve);
      });
    },
  };
}

const lost = ({ name }: CliRun): AppError =>
  new AppError('not_found', `the execution ${name} was deleted before its end`, { reason: 'NotFound' });
