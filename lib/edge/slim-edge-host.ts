import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/** A host without what lists and targets do not look at: a cache may hold ten thousand (design §11). */
export function slimEdgeHost({ apiVersion, kind, metadata, spec, status }: EdgeHost): EdgeHost {
  if (status === undefined) return { apiVersion, kind, metadata: slimMetadata(metadata), spec };
  const { capabilities, ...own } = status;
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec,
    status: { ...own, ...(capabilities !== undefined && { capabilities: { ...capabilities, mount_points: [] } }) },
  };
}
