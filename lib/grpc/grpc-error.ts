import { Metadata, status } from '@grpc/grpc-js';
import { callerError } from '../caller-error.ts';
import { AppError, type ErrorCode } from '../errors.ts';

/** The only table of gRPC statuses. A new code fails to compile until it is here. */
export const statusOfCode: Readonly<Record<ErrorCode, status>> = {
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  already_exists: status.ALREADY_EXISTS,
  conflict: status.ABORTED,
  gone: status.NOT_FOUND,
  limit_exceeded: status.RESOURCE_EXHAUSTED,
  timeout: status.DEADLINE_EXCEEDED,
  unavailable: status.UNAVAILABLE,
  cancelled: status.UNAVAILABLE,
  terminal: status.INTERNAL,
  wait: status.UNAVAILABLE,
  lost_leadership: status.INTERNAL,
  internal: status.INTERNAL,
};

/** After how long to call again, where the error does not say; clients with a retry policy heed it. */
const pushbackMs = 5_000;

interface GrpcErrorOptions {
  /** Default: the text of the code in the table. */
  readonly status?: status;
  /** Sent after the answer; names in lower case. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A failed call whose exact form a handler decides; its message is for the caller. */
export class GrpcError extends AppError {
  override readonly name = 'GrpcError';
  readonly options: GrpcErrorOptions;

  constructor(code: ErrorCode, message: string, options: GrpcErrorOptions = {}) {
    super(code, message, { cause: options.cause });
    this.options = options;
  }
}

/** The wire form of an error. */
export interface GrpcFailure {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
  /** Deserves a line with the whole error: it is our fault. */
  readonly isFault: boolean;
}

/** The answer to anything that was thrown. An error of no known kind becomes a bland INTERNAL. */
export function toGrpcFailure(error: unknown): GrpcFailure {
  const { code: word, message: details = word } = error instanceof GrpcError ? error : callerError(error);
  const options = error instanceof GrpcError ? error.options : {};
  const code = options.status ?? statusOfCode[word];
  const metadata = new Metadata();
  if (code === status.UNAVAILABLE) metadata.set('grpc-retry-pushback-ms', String(pushbackMs));
  for (const [name, value] of Object.entries(options.metadata ?? {})) metadata.set(name, value);
  const isOwn = error instanceof GrpcError && error.cause === undefined;
  return { code, details, metadata, isFault: code === status.INTERNAL && !isOwn };
}
