import { type EdgeHost, edgeHostName } from '../../../../crds/schema/edge-host.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import type { TenantObjects } from '../../../cluster/index.ts';
import { notFound } from '../../not-found.ts';
import { unknownHost } from '../errors.ts';

type Hosts = TenantObjects<EdgeHost>;

/** A host of the caller's tenant by its `node_id`. @throws HttpError 404, the same for one of another tenant. */
export async function locateHost(
  hosts: Pick<Hosts, 'locate'>,
  { tenant }: Pick<Caller, 'tenant'>,
  nodeId: string,
): Promise<EdgeHost> {
  const found = await hosts.locate(tenant, edgeHostName(nodeId));
  if (found === undefined) throw notFound(unknownHost);
  return found;
}
