import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import { createWakesByUid, type WakesByUid } from '../../../../lib/informer/index.ts';
import type { Informers } from '../../../cluster/index.ts';

/** Runs as the watch brings them. */
export interface RunNews extends Pick<WakesByUid, 'changed'> {
  /** As it is now, without its arguments; undefined when it is gone. */
  current(uid: string): FleetRun | undefined;
}

/** Wakes each reader of a run at each change of its object. */
export function createRunNews(informer: Pick<Informers['fleetRuns'], 'cache' | 'onChange'>): RunNews {
  const wakes = createWakesByUid<FleetRun>(informer);
  return {
    current: (uid) => informer.cache.getByUid(uid),
    changed: (uid, signal) => wakes.changed(uid, signal),
  };
}
