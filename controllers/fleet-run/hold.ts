import { commandsFinalizer } from '../../crds/labels.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { fleetRuns } from '../../lib/kinds.ts';
import type { JsonPatchOperation, KubeClient } from '../../lib/kube/index.ts';
import { whileThere } from '../runtime/write-status.ts';

interface HoldDeps {
  readonly kube: Pick<KubeClient, 'jsonPatch'>;
  readonly runs: Pick<CacheReader<FleetRun>, 'remember'>;
}

export const isHeld = ({ metadata }: FleetRun): boolean => metadata.finalizers?.includes(commandsFinalizer) === true;

/**
 * Sees to it that a run cannot go before its commands have ended (ADR 0104). Called before anything is sent for it. Gives the
 * newest version back.
 */
export async function hold(deps: HoldDeps, run: FleetRun): Promise<FleetRun> {
  return isHeld(run) ? run : write(deps, run, [...(run.metadata.finalizers ?? []), commandsFinalizer]);
}

/** Lets a run go whose commands have ended, or are given up. Gives the newest version back. */
export async function letGo(deps: HoldDeps, run: FleetRun): Promise<FleetRun> {
  const { finalizers = [] } = run.metadata;
  return isHeld(run)
    ? write(
        deps,
        run,
        finalizers.filter((one) => one !== commandsFinalizer),
      )
    : run;
}

/** Answers 409 where the run has changed meanwhile; the watch then brings what is new. */
async function write(
  { kube, runs }: HoldDeps,
  { metadata }: FleetRun,
  finalizers: readonly string[],
): Promise<FleetRun> {
  const { name, namespace = '', resourceVersion } = metadata;
  const operations: JsonPatchOperation[] = [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'add', path: '/metadata/finalizers', value: finalizers },
  ];
  const written = await whileThere(kube.jsonPatch(fleetRuns, { name, namespace }, operations));
  runs.remember(written);
  return written;
}
