import type { EdgeHost, EdgeHostStatus } from '../../crds/schema/edge-host.ts';
import { defined } from '../../lib/defined.ts';

/**
 * A host as the cache of a relay keeps it, for each of ten thousand: whether its credential and its state count. Words of
 * the host about itself, and of people about it, are left out; a write begins with the whole host, which it reads anew.
 */
export function relayHost({ apiVersion, kind, metadata, spec: { revoked, draining }, status }: EdgeHost): EdgeHost {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  const kept = {
    apiVersion,
    kind,
    metadata: defined({ name, namespace, uid, resourceVersion, deletionTimestamp }),
    spec: defined({ revoked, draining }),
  };
  return status === undefined ? kept : { ...kept, status: relayStatus(status) };
}

/** The kind requires both times. */
const relayStatus = ({ node_id, status, keys, token_jti }: EdgeHostStatus): EdgeHostStatus => ({
  node_id,
  status,
  since: '',
  enrolled_at: '',
  keys,
  token_jti,
});
