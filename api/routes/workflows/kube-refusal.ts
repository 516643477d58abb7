import { movedFields } from '../../../crds/schema/workflow-manifest.ts';
import { HttpError, type RequestProblem } from '../../../lib/http/http-error.ts';
import { KubeError } from '../../../lib/kube/index.ts';

/**
 * What the API server holds against a write, as an answer: the paths of a refused definition in the form of the
 * manifest, a namespace that is not there, a quota. Anything else comes back as it was.
 */
export function asRefusal(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  if (error.status === 413 || /request is too large/.test(error.serverMessage)) return tooLarge(error);
  if (error.status === 404) return new HttpError({ code: 'not_found', error: 'Tenant not found', cause: error });
  if (error.status === 400 || error.status === 422) return invalidDefinition(error);
  return error.status === 403 ? forbidden(error) : error;
}

/** A missing right is our own fault, and stays what it is. */
function forbidden(error: KubeError): unknown {
  const { serverMessage } = error;
  if (/denied request/.test(serverMessage)) return invalidDefinition(error);
  if (/exceeded quota/.test(serverMessage)) return overQuota(error);
  return /being terminated/.test(serverMessage) ? beingTerminated(error) : error;
}

function tooLarge(cause: KubeError): HttpError {
  const message = 'the definition is larger than a cluster can store';
  return new HttpError({ code: 'invalid', status: 413, error: 'payload_too_large', message, cause });
}

function overQuota(cause: KubeError): HttpError {
  const [, quota = ''] = /(exceeded quota:.*)$/.exec(cause.serverMessage) ?? [];
  return new HttpError({ code: 'limit_exceeded', message: quota, cause });
}

function beingTerminated(cause: KubeError): HttpError {
  return new HttpError({ code: 'conflict', message: 'the namespace of the tenant is being deleted', cause });
}

function invalidDefinition(cause: KubeError): HttpError {
  const details = problemsOf(cause);
  return new HttpError({ code: 'invalid', error: 'invalid_manifest', message: sentence(details), details, cause });
}

/** The first problem in words, and how many more there are. */
export function sentence(details: readonly RequestProblem[]): string {
  const [first, ...others] = details;
  const text = [first?.path, first?.message].filter(Boolean).join(': ');
  return others.length === 0 ? text : `${text}, and ${others.length} more`;
}

/** The server names fields, or an admission policy begins its message with a path. */
function problemsOf({ causes, serverMessage }: KubeError): RequestProblem[] {
  const named = causes.flatMap(({ field, message }) =>
    field === undefined || field === '' || message === undefined ? [] : [{ path: manifestPath(field), message }],
  );
  if (named.length > 0) return named;
  const [, text = serverMessage] = /denied request: (.*)$/s.exec(serverMessage) ?? [];
  const [, path, message] = /^((?:spec|metadata)[^\s:]*): (.*)$/s.exec(text) ?? [];
  return [
    path === undefined || message === undefined ? { path: '', message: text } : { path: manifestPath(path), message },
  ];
}

/** The custom resource keeps under `spec` what the manifest keeps under `metadata` (requirements AMB-060). */
function manifestPath(path: string): string {
  const moved = movedFields.some((field) => path === `spec.${field}` || path.startsWith(`spec.${field}.`));
  return moved ? path.replace(/^spec/, 'metadata') : path;
}
