import { HttpError } from '../http/http-error.ts';
import { fleetScope } from '../tools/fleet-rights.ts';
import type { Caller } from './caller.ts';

/** Values of the role claim that rank above a tenant's users (spec 3 §2.1). */
const operatorRoles: ReadonlySet<string> = new Set(['svc:operator', 'svc:admin']);

export function isOperator({ roles }: Pick<Caller, 'roles'>): boolean {
  return roles.some((role) => operatorRoles.has(role));
}

/** For what reaches beyond a tenant: global scope, promote and demote (AMB-150). @throws HttpError 403. */
export function requireOperator(caller: Pick<Caller, 'roles'>): void {
  if (isOperator(caller)) return;
  throw new HttpError({ code: 'forbidden', message: 'this needs the role svc:operator or svc:admin' });
}

/**
 * For what lets others run tools on hosts: the writer holds that right (ADR 0095). `what` names the field that grants it.
 * @throws HttpError 403.
 */
export function requireFleetScope(caller: Pick<Caller, 'scopes'>, what: string): void {
  if (caller.scopes.includes(fleetScope)) return;
  throw new HttpError({ code: 'forbidden', message: `${what} needs the scope ${fleetScope}` });
}
