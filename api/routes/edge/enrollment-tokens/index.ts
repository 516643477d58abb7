import type { KeyObject } from 'node:crypto';
import type { AuditTrail } from '../../../../lib/bus/index.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { edgeLimits, mintEnrollmentToken } from '../../../../lib/edge/index.ts';
import { defineRoute, HttpError, json, type Route } from '../../../../lib/http/index.ts';
import { invalidField } from '../../../../lib/http/request-errors.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import type { NewId } from '../../../../lib/ids.ts';
import type { TenantDirectory } from '../../../../lib/tenant/tenant-directory.ts';
import { notFound, unknownTenant } from '../../not-found.ts';
import { edgeCaller } from '../edge-caller.ts';
import { issueEnrollmentToken } from './contract.ts';

export interface IssueDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly newId: NewId;
  readonly audit: AuditTrail;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  /** Undefined where edge mode is off. */
  readonly edge: { readonly key: KeyObject; readonly endpoint: string } | undefined;
}

/** The scheme of GEN-01. */
const qrScheme = 'svc-edge-enroll://';

/** spec 2 §4.2, requirements EDGE-REST-01 to EDGE-REST-10. */
export function createIssueRoute(deps: IssueDeps): Route<Caller> {
  return defineRoute<typeof issueEnrollmentToken, Caller>(issueEnrollmentToken, async ({ body, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.enroll');
    const tenant = tenantFor(deps, caller, { home: asked.tenant, team: body.team_tenant_id });
    const { edge, clock } = deps;
    if (edge === undefined)
      throw new HttpError({ code: 'unavailable', message: 'edge mode is off: set relay.enabled' });
    const { name, ttl_seconds: ttlSeconds = edgeLimits.enrollmentSeconds } = body;
    const jti = deps.newId() + deps.newId();
    const now = clock.now();
    const facts = { jti, tid: tenant, issuedBy: caller.subject, now, ttlSeconds };
    const token = await mintEnrollmentToken(edge.key, name === undefined ? facts : { ...facts, name });
    deps.audit.record({ type: 'EdgeEnrollmentTokenIssued', by: { subject: caller.subject, tenant }, subject: jti });
    return json({
      token,
      // The token counts whole seconds.
      expires_at: new Date((Math.floor(now / 1_000) + ttlSeconds) * 1_000).toISOString(),
      controller_endpoint: edge.endpoint,
      qr_payload: `${qrScheme}${token}`,
    });
  });
}

interface Wanted {
  /** The caller's own. */
  readonly home: string;
  readonly team: string | undefined;
}

/** Whose host it will be. An unknown team is the request's mistake, a team of others a missing right (AMB-093). */
function tenantFor({ tenants }: IssueDeps, caller: Caller, { home, team }: Wanted): string {
  const isKnown = (tenant: string): boolean => tenants.namespaceOf(tenant) !== undefined;
  if (team !== undefined && !isKnown(team)) throw invalidField('body.team_tenant_id', 'is the tenant of no team');
  const tenant = team ?? caller.tenant;
  if (!isKnown(tenant)) throw notFound(unknownTenant);
  if (tenant !== home && !isAdminOf(caller, tenant)) {
    throw new HttpError({
      code: 'forbidden',
      message: `team_tenant_id: this needs the rights of an administrator of ${tenant}; the claim team_memberships must say so`,
    });
  }
  return tenant;
}

const isAdminOf = ({ teams = [] }: Caller, tenant: string): boolean =>
  teams.some((one) => one.tenant === tenant && one.isAdmin);
