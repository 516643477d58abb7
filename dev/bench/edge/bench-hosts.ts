import { edgeHosts } from '../../../lib/kinds.ts';
import type { BenchCluster } from '../bench-cluster.ts';

/** A host as commands name it. */
export interface BenchHost {
  readonly hostUid: string;
  readonly nodeId: string;
}

/** The hosts of the run's tenant that are connected. */
export async function connectedHosts({ kube, namespace }: BenchCluster): Promise<BenchHost[]> {
  const { items } = await kube.listAll(edgeHosts, { namespace });
  return items.flatMap(({ metadata, status }) =>
    status?.status === 'Connected' ? [{ hostUid: metadata.uid ?? '', nodeId: status.node_id }] : [],
  );
}
