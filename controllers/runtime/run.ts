import { aborted } from '../../lib/aborted.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ProcessRuntime } from '../../lib/process/process-runtime.ts';
import type { Controller } from './controller.ts';
import type { EventRecorder } from './events.ts';
import type { LeaseElection } from './lease-election.ts';
import type { Follower } from './module.ts';

export interface RunDeps {
  readonly runtime: Pick<ProcessRuntime, 'stop'>;
  readonly logger: Logger;
  readonly election: Pick<LeaseElection, 'run'>;
  readonly informers: readonly Omit<Follower, 'onChange'>[];
  /** Work while this replica leads. */
  readonly controllers: readonly Pick<Controller, 'run'>[];
  readonly recorder: Pick<EventRecorder, 'flush'>;
  /** The caches are filled, and nothing is done with them yet. */
  readonly onSynced?: () => void;
  /** Called when leadership begins and ends. */
  readonly onLeading?: (leading: boolean) => void;
}

/**
 * Runs one replica to its end and returns the exit code. Every replica keeps its caches warm; only the leader works. A
 * graceful stop takes in no more work, and lets running reconciles end while the lease is still renewed. Then it writes
 * the last Events, releases the lease, and stops watching at last. A lost lease ends the process with code 1 at once:
 * nothing it still does can be written.
 */
export async function runReplica(deps: RunDeps): Promise<number> {
  const { runtime, informers, logger } = deps;
  const following = new AbortController();
  const followers = informers.map((informer) => informer.run(following.signal));
  try {
    await Promise.race([Promise.all(informers.map((informer) => informer.synced)), aborted(runtime.stop)]);
    if (runtime.stop.aborted) return 0;
    logger.info({ informers: informers.length }, 'caches synced');
    deps.onSynced?.();
    return await compete(deps);
  } finally {
    following.abort();
    await Promise.all(followers);
  }
}

async function compete(deps: RunDeps): Promise<number> {
  const { runtime, election, controllers, recorder, onLeading } = deps;
  const release = new AbortController();
  const begun = Promise.withResolvers<'leading'>();
  const ended = election.run(release.signal, () => begun.resolve('leading'));
  const first = await Promise.race([begun.promise, ended, aborted(runtime.stop)]);
  if (first === 'lost') return 1;
  if (first === 'leading') {
    onLeading?.(true);
    const drained = Promise.all(controllers.map((controller) => controller.run(runtime.stop)));
    const next = await Promise.race([ended, drained]);
    onLeading?.(false);
    if (next === 'lost') return 1;
    await recorder.flush();
  }
  release.abort();
  return (await ended) === 'lost' ? 1 : 0;
}
