import { HttpError } from '../http/http-error.ts';
import { invalidField } from '../http/request-errors.ts';
import { isTenantSlug, tenantSlugRule } from '../tenant/names.ts';
import type { Caller } from './caller.ts';
import type { Identity } from './identity.ts';
import { isOperator } from './roles.ts';

export interface ScopeRules {
  /** The tenant of service accounts that name none. */
  readonly systemTenant: string;
  /** Refuses everybody who is not an operator (AMB-150). */
  readonly operatorsOnly: boolean;
}

/**
 * The tenant that a call is for (spec 1 §5.2). It is that of the token. For service accounts it is the one they name,
 * else the system tenant, whatever their token says (AMB-147). `named` is the header `X-Tenant-Id`, which counts for
 * service accounts only: for others the tenant is the same with and without, and a team of theirs is noted. @throws
 * HttpError 403 or 400.
 */
export function scopeCall(identity: Identity, named: string | undefined, rules: ScopeRules): Caller {
  if (rules.operatorsOnly && !isOperator(identity)) {
    throw new HttpError({ code: 'forbidden', message: 'only operators may use this installation' });
  }
  if (identity.kind === 'service-account') return { ...identity, tenant: delegated(named) ?? rules.systemTenant };
  const { tenant } = identity;
  if (tenant === undefined) throw new HttpError({ code: 'forbidden', message: 'the token names no tenant' });
  const team = named === undefined ? undefined : identity.teams?.find((one) => one.tenant === named);
  return { ...identity, tenant, ...(team !== undefined && { team }) };
}

/** A slug that no tenant has is fine: it means an empty tenant. */
function delegated(named: string | undefined): string | undefined {
  if (named === undefined || isTenantSlug(named)) return named;
  throw invalidField('header.x-tenant-id', `must be the slug of a tenant: ${tenantSlugRule}`);
}
