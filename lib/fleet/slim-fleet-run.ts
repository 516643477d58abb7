import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/** A run without its arguments, which no list shows and no decision is woken by: a cache may hold thousands (design §11). */
export function slimFleetRun({ apiVersion, kind, metadata, spec, status }: FleetRun): FleetRun {
  const { args: _args, ...asked } = spec;
  return { apiVersion, kind, metadata: slimMetadata(metadata), spec: asked, ...(status !== undefined && { status }) };
}
