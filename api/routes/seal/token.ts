import type { AuditTrail } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { envelopeLimits, issueToken, requireSessionContext, type SealKey } from '../../../lib/envelope/index.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import { requireOperator, type Caller } from '../../../lib/identity/index.ts';
import type { NewId } from '../../../lib/ids.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import { visiblePlaces } from '../../../lib/tenant/visible-places.ts';
import { notFound, unknownTenant } from '../not-found.ts';
import { issueSealToken } from './contract.ts';

export interface SealTokenDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly newId: NewId;
  readonly audit: AuditTrail;
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  readonly key: SealKey;
}

/** Tokens for sessions that operators make at the tool gateway (ADR 0083). */
export function createSealTokenRoute({ clock, newId, audit, kube, tenants, key }: SealTokenDeps): Route<Caller> {
  return defineRoute<typeof issueSealToken, Caller>(issueSealToken, async ({ body, caller }) => {
    requireOperator(caller);
    const { tenant, subject } = caller;
    const namespace = tenants.namespaceOf(tenant);
    if (namespace === undefined) throw notFound(unknownTenant);
    const { security_context: scp, ttl_seconds: seconds = envelopeLimits.sessionMs / 1_000 } = body;
    await requireSessionContext(kube, scp, visiblePlaces(namespace));
    const iat = Math.floor(clock.now() / 1_000);
    const exp = iat + seconds;
    const jti = newId() + newId();
    const token = await issueToken(key, { jti, scp, tenant_id: tenant, iat, exp });
    const data = { security_context: scp, expires_in: seconds };
    audit.record({ type: 'SealTokenIssued', by: { subject, tenant }, subject: jti, data });
    return json({ security_token: token, expires_at: new Date(exp * 1_000).toISOString() });
  });
}
