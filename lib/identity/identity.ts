import { listClaim, textClaim, validUntil } from './claims.ts';
import { isServiceAccount, type ServiceAccountRule } from './service-account.ts';
import type { Claims } from './token-verifier.ts';
import { isTenantSlug } from '../tenant/names.ts';
import type { Caller } from './caller.ts';
import { isOperator } from './roles.ts';

/** Names of the claims that tell who a bearer is. */
export interface ClaimNames extends ServiceAccountRule {
  readonly tenantClaim: string;
  readonly roleClaim: string;
}

/** What a token says of its bearer, whatever the request. */
export type Identity = Omit<Caller, 'tenant'> & {
  /** Undefined where the token names none, or nothing that could be one. */
  readonly tenant: string | undefined;
};

/** Scopes are roles of the provider that are named like one: `svc.edge.hosts.read` (spec 2 §5, AMB-018). */
const scopePrefix = 'svc.';

export function readIdentity(claims: Claims, names: ClaimNames): Identity {
  const roles = listClaim(claims, names.roleClaim);
  const tenant = textClaim(claims, names.tenantClaim);
  return {
    subject: claims.sub,
    kind: isServiceAccount(claims, names) ? 'service-account' : isOperator({ roles }) ? 'operator' : 'consumer',
    tenant: tenant !== undefined && isTenantSlug(tenant) ? tenant : undefined,
    roles,
    scopes: roles.filter((role) => role.startsWith(scopePrefix)),
    until: validUntil(claims),
  };
}
