import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import { heapBytes } from '../heap-bytes.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/** A group of less heap than this is kept as it came: most have a few tags or hosts. */
const smallBytes = 4 * 1024;

/** A group without the selector and the hosts of a large one: its name is what lists are sorted by (design §11). */
export function slimEdgeGroup({ apiVersion, kind, metadata, spec, status }: EdgeGroup): EdgeGroup {
  const own = { apiVersion, kind, metadata: slimMetadata(metadata), ...(status !== undefined && { status }) };
  return { ...own, spec: heapBytes(spec, smallBytes) < smallBytes ? spec : { name: spec.name } };
}

/** A group has a selector or hosts: one without both was cut by `slimEdgeGroup`. */
export const isWholeEdgeGroup = ({ spec }: EdgeGroup): boolean =>
  spec.selector !== undefined || spec.pinned_members !== undefined;
