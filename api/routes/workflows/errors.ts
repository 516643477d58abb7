import type { ErrorContract } from '../../../lib/http/contract.ts';

export const unknownWorkflow: ErrorContract = {
  status: 404,
  error: 'Workflow not found',
  when: 'Neither you, nor your tenant, nor the global scope has a workflow of that name or id.',
};
export const unknownVersion: ErrorContract = {
  status: 404,
  error: 'Version not found',
  when: 'The workflow has no such version; `message` lists those it has.',
};
export const notAnOperator: ErrorContract = {
  status: 403,
  error: 'forbidden',
  when: 'The role `svc:operator` or `svc:admin` is needed for the global scope, and to promote and demote.',
};
export const unknownTenant: ErrorContract = {
  status: 404,
  error: 'Tenant not found',
  when: 'The tenant, or the global scope, has no namespace in this cluster.',
};
export const quotaExceeded: ErrorContract = {
  status: 422,
  error: 'limit_exceeded',
  when: 'A quota of the tenant is used up.',
};
