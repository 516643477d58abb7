import { listClaim, textClaim, validUntil } from './claims.ts';
import { isServiceAccount, type ServiceAccountRule } from './service-account.ts';
import type { TokenClaims } from './token-verifier.ts';
import { isTenantSlug } from '../tenant/names.ts';
import type { Caller } from './caller.ts';
import { type RoleScopes, scopesOf } from './role-scopes.ts';
import { isOperator } from './roles.ts';
import { readTeams } from './teams.ts';

/** Names of the claims that tell who a bearer is. */
export interface ClaimNames extends ServiceAccountRule {
  readonly tenantClaim: string;
  readonly roleClaim: string;
  readonly teamClaim: string;
  readonly roleScopes: RoleScopes;
}

/** Facts of a token about its bearer, whatever the request. */
export type Identity = Omit<Caller, 'tenant'> & {
  /** Undefined where the token names none, or nothing that could be one. */
  readonly tenant: string | undefined;
};

export function readIdentity(claims: TokenClaims, names: ClaimNames): Identity {
  const roles = listClaim(claims, names.roleClaim);
  const teams = readTeams(claims, names.teamClaim);
  const tenant = textClaim(claims, names.tenantClaim);
  return {
    subject: claims.sub,
    kind: isServiceAccount(claims, names) ? 'service-account' : isOperator({ roles }) ? 'operator' : 'consumer',
    tenant: tenant !== undefined && isTenantSlug(tenant) ? tenant : undefined,
    roles,
    scopes: scopesOf(roles, names.roleScopes),
    ...(teams.length > 0 && { teams }),
    until: validUntil(claims),
  };
}
