import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import type { Informers } from '../../../cluster/index.ts';

/** Runs as the watch brings them. */
export interface RunNews {
  /** As it is now, without its arguments; undefined when it is gone. */
  current(uid: string): FleetRun | undefined;
  /** Resolves at the next change of the run, or when the signal aborts. */
  changed(uid: string, signal: AbortSignal): Promise<void>;
}

/** Wakes each reader of a run at each change of its object. */
export function createRunNews(informer: Pick<Informers['fleetRuns'], 'cache' | 'onChange'>): RunNews {
  const listeners = new Map<string, Set<() => void>>();
  informer.onChange(({ before, after }) => {
    const uid = (after ?? before)?.metadata.uid ?? '';
    for (const wake of listeners.get(uid) ?? []) wake();
  });
  return {
    current: (uid) => informer.cache.getByUid(uid),
    async changed(uid, signal) {
      if (signal.aborted) return;
      const woken = Promise.withResolvers<void>();
      const wake = (): void => woken.resolve();
      const own = listeners.get(uid) ?? new Set();
      listeners.set(uid, own.add(wake));
      signal.addEventListener('abort', wake, { once: true });
      await woken.promise;
      signal.removeEventListener('abort', wake);
      own.delete(wake);
      if (own.size === 0 && listeners.get(uid) === own) listeners.delete(uid);
    },
  };
}
