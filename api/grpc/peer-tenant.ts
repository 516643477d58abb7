import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import type { Peer } from '../../lib/grpc/peer.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';

const tenantUri = /^windlass:\/\/tenant\/([a-z0-9]([a-z0-9-]*[a-z0-9])?)$/;

/**
 * The tenant that a client speaks for: the one URI `windlass://tenant/<slug>` among the names of its certificate. Not
 * the common name: authorities put what they like there, while a URI is written on purpose.
 * @throws GrpcError PERMISSION_DENIED where there is none, more than one, or the tenant is not set up.
 */
export function peerTenant(peer: Peer, tenants: Pick<TenantDirectory, 'namespaceOf'>): string {
  const [slug, ...others] = peer.uris.flatMap((uri) => tenantUri.exec(uri)?.[1] ?? []);
  if (slug === undefined || others.length > 0) {
    throw new GrpcError('forbidden', 'the client certificate must have one name URI:windlass://tenant/<slug>');
  }
  if (tenants.namespaceOf(slug) === undefined) {
    throw new GrpcError('forbidden', "the client certificate's tenant is not set up");
  }
  return slug;
}
