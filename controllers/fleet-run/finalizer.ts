import { commandsFinalizer } from '../../crds/labels.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { type CacheReader, finalizerPlace } from '../../lib/informer/index.ts';
import { fleetRuns } from '../../lib/kinds.ts';
import type { JsonPatchOperation, KubeClient } from '../../lib/kube/index.ts';
import { whileThere } from '../runtime/write-status.ts';

interface HoldDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly runs: Pick<CacheReader<FleetRun>, 'remember'>;
}

export const isHeld = ({ metadata }: FleetRun): boolean => metadata.finalizers?.includes(commandsFinalizer) === true;

/**
 * Sees to it that a run cannot go before its commands have ended (ADR 0104). Called before anything is sent for it. Gives the
 * newest version back.
 */
export async function hold(deps: HoldDeps, run: FleetRun): Promise<FleetRun> {
  if (isHeld(run)) return run;
  const hasSome = run.metadata.finalizers !== undefined;
  const add: JsonPatchOperation = hasSome
    ? { op: 'add', path: '/metadata/finalizers/-', value: commandsFinalizer }
    : { op: 'add', path: '/metadata/finalizers', value: [commandsFinalizer] };
  return write(deps, run, add);
}

/**
 * Lets a run go whose commands have ended, or are given up. Gives the newest version back. By its place: a cache does not keep
 * the finalizers of others.
 */
export async function letGo(deps: HoldDeps, run: FleetRun): Promise<FleetRun> {
  const place = await finalizerPlace(deps.kube, fleetRuns, run, commandsFinalizer);
  return place === undefined ? run : write(deps, run, { op: 'remove', path: `/metadata/finalizers/${place}` });
}

/** Answers 409 where the run has changed meanwhile; the watch then brings what is new. */
async function write({ kube, runs }: HoldDeps, { metadata }: FleetRun, change: JsonPatchOperation): Promise<FleetRun> {
  const { name, namespace = '', resourceVersion } = metadata;
  const asRead: JsonPatchOperation = { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion };
  const written = await whileThere(kube.jsonPatch(fleetRuns, { name, namespace }, [asRead, change]));
  runs.remember(written);
  return written;
}
