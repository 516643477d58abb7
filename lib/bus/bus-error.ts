import { AppError, hasReason, messageOf } from '../errors.ts';

/** Error codes of JetStream's API (nats-server, errors.json). */
export const errorCodes = {
  wrongSequence: 10_071,
  wrongSequenceUnknown: 10_164,
  tooLarge: 10_054,
  noMessage: 10_037,
  streamNotFound: 10_059,
  /** There is a stream of that name with other settings. */
  nameInUse: 10_058,
  /** The stream gives no message a time to live of its own. */
  ttlDisabled: 10_166,
  insufficientResources: 10_023,
  memoryExceeded: 10_028,
  storageExceeded: 10_047,
  /** The store took no message, such as for the bytes of the stream. */
  storeFailed: 10_077,
} as const;

/** The server's no to a message, with its code. */
export class StreamRefusal extends Error {
  override readonly name = 'StreamRefusal';
  readonly code: number | undefined;

  constructor(code: number | undefined, description: string) {
    super(description);
    this.code = code;
  }
}

/** Whether another client wrote in between. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === errorCodes.wrongSequence || code === errorCodes.wrongSequenceUnknown;
}

/** Whether the server answers and the stream is not there: an operator deleted it, or the server lost its store. */
export function isStreamGone(error: unknown): boolean {
  return (
    codeOf(error) === errorCodes.streamNotFound || (error instanceof Error && error.name === 'JetStreamNotEnabled')
  );
}

/** Whether the server answered, and said no. */
export function isNo(error: unknown): boolean {
  return error instanceof Error && noNames.has(error.name);
}

/** Names of our error and of the library's. */
const noNames: ReadonlySet<string> = new Set(['StreamRefusal', 'JetStreamApiError', 'PermissionViolationError']);

/** Codes of a server that has no room for a message: of its memory, of its disk, or of the stream. */
const noRoomCodes: ReadonlySet<unknown> = new Set([
  errorCodes.insufficientResources,
  errorCodes.memoryExceeded,
  errorCodes.storageExceeded,
  errorCodes.storeFailed,
]);

/** Whether a write finds no room, in the bucket or at the server. There may be some later. */
export const isBusFull = (error: unknown): boolean =>
  hasReason(error, 'BucketFull') || (error instanceof AppError && noRoomCodes.has(codeOf(error.cause)));

/** The error that callers get for a failure at the bus. */
export function busError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isTooLarge(error)) {
    return new AppError('limit_exceeded', 'the message is larger than the event bus takes', {
      reason: 'EventTooLarge',
      cause: error,
    });
  }
  const what = noRoomCodes.has(codeOf(error)) ? 'has no room' : 'did not answer';
  return new AppError('unavailable', `the event bus ${what}: ${messageOf(error)}`, {
    reason: 'EventBusUnavailable',
    cause: error,
  });
}

/** The library refuses what the connection does not take, the server what the stream does not take. */
function isTooLarge(error: unknown): boolean {
  return codeOf(error) === errorCodes.tooLarge || messageOf(error).includes('max_payload');
}

/** The code that the library or the server gave. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
