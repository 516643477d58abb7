import type { ErrorContract } from '../../../lib/http/contract.ts';
import { operatorRoles } from '../../../lib/identity/index.ts';

export const notAnOperator: ErrorContract = {
  status: 403,
  error: 'forbidden',
  when: 'The role `svc:operator` or `svc:admin` is needed for the global scope, and to promote and demote.',
};

/** To promote and demote. */
export const operatorsAlone: ErrorContract = { ...notAnOperator, needs: operatorRoles };
/** To register. */
export const operatorsForGlobal: ErrorContract = { ...operatorsAlone, needsFor: { query: 'scope', value: 'global' } };

export const quotaExceeded: ErrorContract = {
  status: 422,
  error: 'limit_exceeded',
  when: 'A quota of the tenant is used up.',
};
