import { HttpError } from '../http/http-error.ts';
import { fleetScope } from '../tools/fleet-rights.ts';
import type { Caller } from './caller.ts';

/** Values of the role claim that rank above a tenant's users (spec 3 §2.1). */
export const operatorRoles = ['svc:operator', 'svc:admin'] as const;
const ofOperators: ReadonlySet<string> = new Set(operatorRoles);

export function isOperator({ roles }: Pick<Caller, 'roles'>): boolean {
  return roles.some((role) => ofOperators.has(role));
}

/** For what reaches beyond a tenant: global scope, promote and demote (AMB-150). @throws HttpError 403. */
export function requireOperator(caller: Pick<Caller, 'roles'>): void {
  requireOneOf({ ...caller, scopes: [] }, operatorRoles);
}

/** A caller holds one of these roles and scopes. @throws HttpError 403 that names them. */
export function requireOneOf({ roles, scopes }: Pick<Caller, 'roles' | 'scopes'>, oneOf: readonly string[]): void {
  if (oneOf.some((one) => roles.includes(one) || scopes.includes(one))) return;
  const kind = oneOf.some((one) => ofOperators.has(one)) ? 'role' : 'scope';
  throw new HttpError({ code: 'forbidden', message: `this needs the ${kind} ${oneOf.join(' or ')}` });
}

/**
 * For what lets others run tools on hosts: the writer holds that right (ADR 0095). `what` names the field that grants it.
 * @throws HttpError 403.
 */
export function requireFleetScope(caller: Pick<Caller, 'scopes'>, what: string): void {
  if (caller.scopes.includes(fleetScope)) return;
  throw new HttpError({ code: 'forbidden', message: `${what} needs the scope ${fleetScope}` });
}
