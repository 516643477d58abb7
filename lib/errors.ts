/**
 * The kind of an error, in a word that every edge can translate (HTTP, exit code, condition).
 * An edge keeps one exhaustive `Record<ErrorCode, …>`, so a new code fails to compile until it is mapped.
 */
export type ErrorCode =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'already_exists'
  | 'conflict'
  | 'gone'
  | 'limit_exceeded'
  | 'timeout'
  | 'unavailable'
  | 'cancelled'
  | 'terminal'
  | 'wait'
  | 'lost_leadership'
  | 'internal';

/** Extra facts of an error: a PascalCase reason for machines and the error that led to it. */
interface ErrorDetails {
  readonly reason?: string;
  readonly cause?: unknown;
}

/** Base of every error thrown on purpose. `code` is for edges, `reason` for conditions and metrics, message for people. */
export class AppError extends Error {
  override readonly name: string = 'AppError';
  readonly code: ErrorCode;
  readonly reason: string;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.reason = details.reason ?? 'Error';
  }
}

/** Retrying cannot help: the user must change something. A reconcile that throws it is counted, logged and not retried. */
export class TerminalError extends AppError {
  override readonly name = 'TerminalError';

  constructor(reason: string, message: string, cause?: unknown) {
    super('terminal', message, { reason, cause });
  }
}

/** Not yet: look again after `afterMs` milliseconds. No failure, so neither backoff nor an error log follows. */
export class WaitError extends AppError {
  override readonly name = 'WaitError';
  readonly afterMs: number;

  constructor(reason: string, afterMs: number, message = `waiting: ${reason}`) {
    super('wait', message, { reason });
    this.afterMs = afterMs;
  }
}

/**
 * Reasons by which a file decides that does not throw them. The name is part of what the two files agree on, so it is
 * spelled in one list; `test/contract/shared-reasons.test.ts` finds the thrower of each.
 */
export type SharedReason = (typeof sharedReasons)[number];
export const sharedReasons = [
  'AuditUnavailable',
  'BucketFull',
  'ClassificationFailed',
  'ConfigInvalid',
  'ContentTooLarge',
  'ContextUnread',
  'ConversationTooNew',
  'CredentialFailed',
  'DefinitionUnreadable',
  'DocumentMissing',
  'EdgeStreamElsewhere',
  'EventBusUnavailable',
  'ManifestTooCostly',
  'NestedTooDeep',
  'NoResponders',
  'NotWaiting',
  'OutputLost',
  'Overloaded',
  'Overtaken',
  'ReplicaShort',
  'ReplicaStops',
  'RequestTimeout',
  'RequestTooLarge',
  'Revoked',
  'SecurityContextNotFound',
  'SessionRevoked',
  'Stopped',
  'TooManyTargets',
  'ToolsUnsettled',
  'UNAUTHENTICATED',
  'Usage',
  'VersionExists',
  'VersionNotFound',
] as const;

/** Whether an error of ours was thrown for this reason. */
export const hasReason = <R extends SharedReason>(
  error: unknown,
  reason: R,
): error is AppError & { readonly reason: R } => error instanceof AppError && error.reason === reason;

/** The message of anything that can be thrown, without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
