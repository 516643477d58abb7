import { EnvelopeError } from './envelope-error.ts';
import type { SealSession } from './sessions.ts';

/** Names and values of a request, names in lower case. */
type Headers = readonly (readonly [name: string, value: string])[];

/** The tenant that a request names beside its proof; one that is sent several times is none. */
export const namedTenant = (headers: Headers): string =>
  headers.flatMap(([name, value]) => (name === 'x-tenant-id' ? value : [])).join();

/**
 * A proved call is for the tenant of its session, which its header may repeat. A call that is meant for another one is
 * not made in this one (spec 3 §5.4). A session of the bypass has no tenant. @throws EnvelopeError `tenant_mismatch`
 */
export function requireNamedTenant(session: SealSession, named: string): void {
  const { tenant } = session;
  if (named === '' || tenant === '' || named === tenant) return;
  const message = 'X-Tenant-Id names another tenant than the session; leave it out';
  throw new EnvelopeError('tenant_mismatch', message, { session, asserted: named });
}
