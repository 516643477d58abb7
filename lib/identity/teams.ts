import { isTenantSlug } from '../tenant/names.ts';
import type { Team } from './caller.ts';
import { claimAt } from './claims.ts';

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
