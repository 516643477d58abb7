import { globalNamespace } from '../../crds/labels.ts';
import type { Problem } from '../../crds/problem.ts';
import { notYetMessage } from '../../lib/caller-error.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { isDenied, isInvalid, isNamespaceGone, isQuotaExceeded, isTooLarge } from '../../lib/kube/index.ts';
import type { ErrorContract } from '../../lib/http/contract.ts';

/** spec 3 §7.1. */
export const invalidRegistration: ErrorContract = {
  status: 400,
  error: 'Validation',
  when: 'The registration breaks a rule; `details` names each place. Nothing was written.',
};
export const nameTaken: ErrorContract = {
  status: 409,
  error: 'already_exists',
  when: 'Something that the tenant sees has the name, be it shared by all tenants.',
};
export const unknownId: ErrorContract = {
  status: 404,
  error: 'not_found',
  when: 'The tenant sees nothing of that id.',
};
export const notOwn: ErrorContract = {
  status: 403,
  error: 'forbidden',
  when: 'All tenants share it; an svc:admin without tenant_id writes it.',
};

/** A 400 of spec 3 §7.1 that names every place. */
export function validation(problems: readonly Pick<Problem, 'path' | 'message'>[]): HttpError {
  const details = problems.slice(0, 50).map(({ path, message }) => ({ path, message }));
  const [first = { path: '', message: 'is not valid' }] = details;
  const message = `${first.path} ${first.message}`.trim();
  return new HttpError({ code: 'invalid', error: 'Validation', message, details });
}

export const notFound = (): HttpError =>
  new HttpError({ code: 'not_found', message: 'the tenant sees nothing of that id; list the objects to find it' });

export const taken = (name: string): HttpError =>
  new HttpError({ code: 'already_exists', message: `the name ${name} is taken; choose another` });

/** The API server's refusal of an object, as an answer; any other error is thrown again. */
export function kubeRefusal(cause: unknown): unknown {
  if (isTooLarge(cause)) return validation([{ path: '', message: 'is larger than Kubernetes takes; make it smaller' }]);
  const notYet = notYetMessage(cause);
  if (notYet !== undefined) return new HttpError({ code: 'unavailable', message: notYet, cause });
  if (isNamespaceGone(cause)) {
    const [, name = ''] = /"([^"]+)"/.exec(cause.serverMessage) ?? [];
    const what =
      name === globalNamespace
        ? `the namespace ${name} is not there; install the chart`
        : 'the tenant is not set up; make it with windlass tenant create';
    return new HttpError({ code: 'not_found', message: what, cause });
  }
  if (isQuotaExceeded(cause)) {
    return new HttpError({
      code: 'limit_exceeded',
      message: 'the quota of the tenant is used up; delete what is no longer needed',
      cause,
    });
  }
  if (isInvalid(cause)) return validation([{ path: '', message: cause.serverMessage }]);
  // An admission policy speaks of the object; a missing right of our own is no answer to the caller.
  return isDenied(cause) ? new HttpError({ code: 'forbidden', message: cause.serverMessage, cause }) : cause;
}
