import type { ErrorContract } from '../../lib/http/contract.ts';
import { HttpError, type HttpErrorOptions } from '../../lib/http/http-error.ts';

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

export const unknownTenant: ErrorContract = {
  status: 404,
  error: 'Tenant not found',
  when: 'The tenant, or the global scope, has no namespace in this cluster.',
};

/** spec 1 §7.1; the same for an agent of another tenant. */
export const unknownAgent: ErrorContract = {
  status: 404,
  error: 'Agent not found',
  when: 'The tenant has no agent of that name or id.',
};

/** The same for an id that is malformed, unknown or another tenant's. */
export const unknownExecution: ErrorContract = {
  status: 404,
  error: 'Execution not found',
  when: 'The tenant has no execution of that id.',
};

/** The answer that one of these tells of. */
export function notFound({ error }: ErrorContract, more: Pick<HttpErrorOptions, 'message' | 'cause'> = {}): HttpError {
  return new HttpError({ code: 'not_found', error, ...more });
}
