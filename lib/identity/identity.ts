import { isTenantSlug } from '../tenant/names.ts';
import type { Caller, Team } from './caller.ts';
import { claimAt, listClaim, textClaim, validUntil } from './token-claims.ts';
import { type RoleScopes, scopesOf } from './role-scopes.ts';
import { isOperator } from './roles.ts';
import type { TokenClaims } from './token-verifier.ts';

/** Claims that distinguish a machine's token from a person's. */
interface ServiceAccountRule {
  readonly kindClaim: string;
  readonly usernameClaim: string;
  /** A username that begins so is a machine's; undefined: no username says so. */
  readonly usernamePrefix: string | undefined;
}

const kinds = new Set<unknown>(['service_account', 'service-account']);

/** Spec 3 §2.1, requirements AMB-146: what the kind says counts; only without it does the username. */
export function isServiceAccount(claims: Readonly<Record<string, unknown>>, rule: ServiceAccountRule): boolean {
  const kind = claimAt(claims, rule.kindClaim);
  if (kind !== undefined && kind !== null) return kinds.has(kind);
  return (
    rule.usernamePrefix !== undefined && (textClaim(claims, rule.usernameClaim) ?? '').startsWith(rule.usernamePrefix)
  );
}

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

/** Teams of one person; more are left out. */
const teamsLimit = 256;
const adminSuffix = ':admin';
const none: readonly Team[] = [];

/**
 * The tenants of the teams that a bearer belongs to (spec 2 §5). An entry of the claim is `<tenant>` for a member,
 * `<tenant>:admin` for an administrator, or `{tenant_id, role}`. An entry of no such form, or whose tenant is no slug, is
 * left out. A tenant that is named twice has the greater of both rights.
 */
export function readTeams(claims: Readonly<Record<string, unknown>>, claim: string): readonly Team[] {
  const value = claimAt(claims, claim);
  if (value === undefined) return none;
  const entries: unknown[] = Array.isArray(value) ? value : [value];
  const teams = new Map<string, Team>();
  for (const team of entries.slice(0, teamsLimit).flatMap(teamOf)) {
    if (team.isAdmin || !teams.has(team.tenant)) teams.set(team.tenant, team);
  }
  return [...teams.values()];
}

function teamOf(entry: unknown): Team[] {
  if (typeof entry === 'string') {
    const isAdmin = entry.endsWith(adminSuffix);
    return teamNamed(isAdmin ? entry.slice(0, -adminSuffix.length) : entry, isAdmin);
  }
  if (typeof entry !== 'object' || entry === null) return [];
  const { tenant_id: tenant, role } = entry as { readonly tenant_id?: unknown; readonly role?: unknown };
  return typeof tenant === 'string' ? teamNamed(tenant, role === 'admin') : [];
}

const teamNamed = (tenant: string, isAdmin: boolean): Team[] => (isTenantSlug(tenant) ? [{ tenant, isAdmin }] : []);

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
