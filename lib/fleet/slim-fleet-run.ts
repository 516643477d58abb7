import type { FleetRun, FleetTarget } from '../../crds/schema/fleet-run.ts';
import { heapBytes } from '../heap-bytes.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/** A target that takes less heap than this stays in caches: most name one host or group, or a few tags. */
const smallTargetBytes = 1_024;
/** In place of a larger one. A target has exactly one key. */
const cutTarget: FleetTarget = Object.freeze({});

/**
 * A run without its arguments and without a large target, which only views show and no decision is woken by: a cache may hold
 * thousands (design §11).
 */
export function slimFleetRun({ apiVersion, kind, metadata, spec, status }: FleetRun): FleetRun {
  const { args: _args, target, ...asked } = spec;
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: { ...asked, target: heapBytes(target, smallTargetBytes) < smallTargetBytes ? target : cutTarget },
    ...(status !== undefined && { status }),
  };
}

export const hasTarget = ({ spec: { target } }: FleetRun): boolean => Object.keys(target).length > 0;
