import { AppError, type ErrorCode } from '../errors.ts';
import type { KubeStatus, StatusCause } from './objects.ts';

const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  408: 'timeout',
  409: 'conflict',
  410: 'gone',
  413: 'limit_exceeded',
  422: 'invalid',
  429: 'unavailable',
  500: 'internal',
  502: 'unavailable',
  503: 'unavailable',
  504: 'timeout',
};

const retryableStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The request, for the message: `patch pods/status team-a/step-1`. Never holds a body. */
export interface RequestName {
  readonly verb: string;
  readonly resource: string;
  readonly object?: string;
}

/** An answer of the API server that is no success. `status` is the HTTP status, `reason` the server's own word. */
export class KubeError extends AppError {
  override readonly name = 'KubeError';
  readonly status: number;
  /** Whether it is a race for a quota: see `isQuotaRaced`. */
  readonly isQuotaRace: boolean;
  /** The server's sentence, without our prefix. */
  readonly serverMessage: string;
  /** The fields a refused object fails on. */
  readonly causes: readonly StatusCause[];
  /** How long the server asks us to stay away, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, body: KubeStatus, request: RequestName, retryAfterMs?: number) {
    const reason = body.reason || `Http${status}`;
    const serverMessage = body.message ?? `HTTP ${status}`;
    const what = [request.verb, request.resource, request.object].filter(Boolean).join(' ');
    const isRaced = isRaceForQuota(status, serverMessage, request.resource);
    super(isRaced ? 'unavailable' : codeOf(status, reason), `${what}: ${serverMessage}`, { reason });
    this.status = status;
    this.isQuotaRace = isRaced;
    this.serverMessage = serverMessage;
    this.causes = body.details?.causes ?? [];
    const seconds = body.details?.retryAfterSeconds;
    this.retryAfterMs = retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  }
}

/** A write to a ResourceQuota itself that meets another one is a conflict as any. */
function isRaceForQuota(status: number, message: string, resource: string): boolean {
  return status === 409 && !resource.startsWith('resourcequotas') && racedForQuota.test(message);
}

const racedForQuota = /^Operation cannot be fulfilled on resourcequotas "/;

function codeOf(status: number, reason: string): ErrorCode {
  if (reason === 'AlreadyExists') return 'already_exists';
  // A proxy in place of the server has looked for nothing.
  if (reason === 'Http404') return 'unavailable';
  return codeOfStatus[status] ?? (status >= 500 ? 'internal' : 'invalid');
}

/** Any answer with this status, also of a proxy that has looked for nothing. See `isAbsent`. */
export function isNotFound(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 404;
}

/** The server has no such kind, or is no API server: the answer does not say that it looked for an object. */
export function isMissingKind(error: unknown): boolean {
  if (!isNotFound(error)) return false;
  return error.reason !== 'NotFound' || error.serverMessage.includes('could not find the requested resource');
}

/**
 * Another client wrote in between, or the uid in a precondition is another one. Neither `AlreadyExists` nor a race for a
 * quota, though all are 409.
 */
export function isConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.code !== 'already_exists' && !isQuotaRaced(error);
}

/**
 * Concurrent requests wrote the usage of a ResourceQuota, each time before this one could. The server has made
 * nothing, and no other object conflicts with this one: the same request may succeed in a moment.
 */
export function isQuotaRaced(error: unknown): boolean {
  return error instanceof KubeError && error.isQuotaRace;
}

/** The name of a create is taken. */
export function isAlreadyExists(error: unknown): error is KubeError {
  return error instanceof KubeError && error.code === 'already_exists';
}

/** The resourceVersion or continue token is older than what the server still knows: list again. */
export function isGone(error: unknown): error is KubeError {
  return error instanceof KubeError && (error.status === 410 || error.reason === 'Expired');
}

/** The object fails validation or an admission policy. Retrying the same object cannot help. */
export function isInvalid(error: unknown): error is KubeError {
  return error instanceof KubeError && (error.status === 400 || error.status === 422);
}

/** A `test` of a JSON patch does not hold. The server names no field then, as it does for a value that it refuses. */
export function isFailedTest(error: unknown): error is KubeError {
  if (!(error instanceof KubeError) || error.status !== 422 || error.causes.length > 0) return false;
  return error.serverMessage === 'the server rejected our request due to an error in our request';
}

export function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 403;
}

/** The server has looked for the object, or the subresource, and has none. */
export function isAbsent(error: unknown): error is KubeError {
  return isNotFound(error) && !isMissingKind(error);
}

/** An admission policy or a webhook is against the object, with whichever status. A right that we lack is another matter. */
export function isDenied(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status < 500 && /denied (the )?request/.test(error.serverMessage);
}

/** A ResourceQuota of the namespace has no room for the object. */
export function isQuotaExceeded(error: unknown): error is KubeError {
  return isForbidden(error) && error.serverMessage.includes('exceeded quota');
}

/**
 * A LimitRange forbids the amounts that the object asks for, or a ResourceQuota wants amounts that it does not name. The
 * same object is refused for as long as those stay.
 */
export function isOutOfBounds(error: unknown): error is KubeError {
  return isForbidden(error) && outOfBounds.test(error.serverMessage);
}

const outOfBounds =
  /: must specify \S|(minimum|maximum) \S+ usage per (Container|Pod) is |max limit to request ratio per (Container|Pod) is /;

/** A ResourceQuota is so new that the server has not counted yet: the same request may succeed in a moment. */
export function isQuotaUncounted(error: unknown): error is KubeError {
  return isForbidden(error) && error.serverMessage.includes('status unknown for quota');
}

/**
 * The server does not know who asks. The pod of the process was deleted while it still runs, a certificate has expired,
 * or the server cannot look the identity up. Nothing is said about the object, and nothing was done with it.
 */
export function isIdentityRefused(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 401;
}

/**
 * Our account lacks a right. Either nothing gives it, or the server does not know yet: the role was bound a moment ago, or
 * the server has just begun. Only its lasting tells them apart (ADR 0142).
 */
export function lacksRights(error: unknown): error is KubeError {
  return isForbidden(error) && rightMissing.test(error.serverMessage) && !isDenied(error);
}

const rightMissing =
  /is forbidden: User "[^"]*" cannot \S+ resource "[^"]*" in API group "[^"]*" (in the namespace "|at the cluster scope)/;

/** The server has begun a moment ago, and its admission plugins have not read yet what they need. */
export function isAdmissionUnready(error: unknown): error is KubeError {
  return isForbidden(error) && error.serverMessage.endsWith('not yet ready to handle request');
}

/** The namespace of the object is not there, or is being deleted. */
export function isNamespaceGone(error: unknown): error is KubeError {
  if (isNotFound(error)) return error.serverMessage.startsWith('namespaces "');
  return isForbidden(error) && error.serverMessage.includes('because it is being terminated');
}

/**
 * The API server has judged the object itself, and would judge it so again. Any other refusal speaks of the server, of our
 * account or of something between us, such as a proxy whose answer is no Status.
 */
export function refusesObject(error: unknown): error is KubeError {
  if (!(error instanceof KubeError) || error.reason === `Http${error.status}`) return false;
  return isDenied(error) || isInvalid(error) || isTooLarge(error);
}

/**
 * The same request may succeed later, without a change of the object by its author. Two refusals of our account count
 * as lasting. One is a full quota, of which the author of the object must hear. The other is a namespace that is not
 * there or ends, with all that is in it.
 */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof KubeError)) return isRetryable(error);
  return !refusesObject(error) && !isQuotaExceeded(error) && !isNamespaceGone(error);
}

/**
 * The API server bounds a request, etcd an object, and the connection between them a message; the refusals of the latter
 * two come as trouble of the server. An object may be much larger there: `<` is written in six characters.
 */
export function isTooLarge(error: unknown): error is KubeError {
  if (!(error instanceof KubeError)) return false;
  return error.status === 413 || (error.status >= 500 && tooLarge.test(error.serverMessage));
}

const tooLarge = /request is too large|message larger than max/;

/**
 * The same call may succeed later: overload, timeout, server trouble, or no answer at all. One 500 is final:
 * server-side apply with a field the schema lacks, which only a newer CRD can heal.
 */
export function isRetryable(error: unknown): boolean {
  if (error instanceof KubeError)
    return error.isQuotaRace || (retryableStatuses.has(error.status) && !/not declared in schema/.test(error.message));
  return error instanceof AppError && (error.code === 'unavailable' || error.code === 'timeout');
}
