import type { ErrorContract } from '../../../lib/http/contract.ts';
import { type Caller, requireOneOf } from '../../../lib/identity/index.ts';

/** spec 2 §5: roles of the identity provider that grant operations of edge hosts. */
export type EdgeScope =
  | 'svc.edge.enroll'
  | 'svc.edge.hosts.read'
  | 'svc.edge.hosts.write'
  | 'svc.edge.groups.write'
  | 'svc.edge.fleet.read'
  | 'svc.edge.fleet.manage';

/**
 * The caller with the tenant that an edge operation acts in: the team that a person named by `X-Tenant-Id`, else the tenant
 * of the call (ADR 0072). @throws HttpError 403 for a caller with none of the scopes.
 */
export function edgeCaller(caller: Caller, ...oneOf: readonly EdgeScope[]): Caller {
  requireOneOf(caller, oneOf);
  return caller.team === undefined ? caller : { ...caller, tenant: caller.team.tenant };
}

/** The refusal of a caller without the scope. */
export const withoutScope = (...oneOf: readonly EdgeScope[]): ErrorContract => ({
  status: 403,
  error: 'forbidden',
  needs: oneOf,
  when: `The caller lacks the scope \`${oneOf.join('` or `')}\`, or belongs to no tenant.`,
});
