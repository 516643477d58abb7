import { movedFields } from '../../../crds/schema/workflow-manifest.ts';
import { HttpError, type RequestProblem } from '../../../lib/http/http-error.ts';
import { isDenied, isInvalid, type KubeError } from '../../../lib/kube/index.ts';
import { writeRefusal } from '../write-refusal.ts';

/**
 * The API server's refusal of a write, as an answer: the paths of a refused definition in the form of the
 * manifest, a namespace that is not there, a quota. Anything else comes back as it was.
 */
export function asRefusal(error: unknown, moved: readonly string[] = movedFields): unknown {
  if (isInvalid(error) || isDenied(error)) return invalidDefinition(error, moved);
  return writeRefusal(error, tooLarge) ?? error;
}

function tooLarge(cause: unknown): HttpError {
  const message = 'the definition is larger than a cluster can store';
  return new HttpError({ code: 'invalid', status: 413, error: 'payload_too_large', message, cause });
}

function invalidDefinition(cause: KubeError, moved: readonly string[]): HttpError {
  const details = problemsOf(cause).map(({ path, message }) => ({ path: manifestPath(path, moved), message }));
  return new HttpError({ code: 'invalid', error: 'invalid_manifest', message: sentence(details), details, cause });
}

/** The first problem in words, and how many more there are: those of the list, and `further` ones. */
export function sentence(details: readonly RequestProblem[], further = 0): string {
  const [first, ...others] = details;
  const text = [first?.path, first?.message].filter(Boolean).join(': ');
  const more = others.length + further;
  return more === 0 ? text : `${text}, and ${more} more`;
}

/** The server names fields, or an admission policy begins its message with a path. */
function problemsOf({ causes, serverMessage }: KubeError): RequestProblem[] {
  const named = causes.flatMap(({ field, message }) =>
    field === undefined || field === '' || message === undefined ? [] : [{ path: field, message }],
  );
  if (named.length > 0) return named;
  const [, text = serverMessage] = /denied (?:the )?request: (.*)$/s.exec(serverMessage) ?? [];
  const [, path, message] = /^((?:spec|metadata)[^\s:]*): (.*)$/s.exec(text) ?? [];
  return [path === undefined || message === undefined ? { path: '', message: text } : { path, message }];
}

/** The custom resource keeps under `spec` what the manifest keeps under `metadata` (requirements AMB-060). */
function manifestPath(path: string, fields: readonly string[]): string {
  const moved = fields.some((field) => path === `spec.${field}` || path.startsWith(`spec.${field}.`));
  return moved ? path.replace(/^spec/, 'metadata') : path;
}
