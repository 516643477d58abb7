import { AppError } from '../errors.ts';
import type { CapturedStreams } from './captured-streams.ts';
import type { Trailer } from './trailer.ts';

/**
 * Why a log could not be taken as a step's output.
 *
 * - `TrailerMissing`: the log ends without a trailer. The runner was killed (out of memory, node lost), or has not ended.
 * - `HashMismatch`: a stream has another length or hash than the trailer says. The log was rotated or cut, or read badly:
 *   read it again; if that gives the same, bytes are lost.
 * - `MalformedTrailer`: the trailer or the termination message is not what a runner writes.
 * - `MalformedLog`: a line that no runner writes, or a stream longer than the limit.
 */
type CaptureFailure = 'TrailerMissing' | 'HashMismatch' | 'MalformedTrailer' | 'MalformedLog';

/**
 * The output of a step could not be read in full. `streams` holds what could be, unverified; `trailer` is there where the
 * log had one and a stream does not fit it.
 */
export class CaptureError extends AppError {
  override readonly name = 'CaptureError';
  readonly failure: CaptureFailure;
  readonly streams: CapturedStreams;
  readonly trailer: Trailer | undefined;

  constructor(
    failure: CaptureFailure,
    message: string,
    streams: CapturedStreams & { readonly trailer?: Trailer } = noStreams,
  ) {
    super('unavailable', message, { reason: failure });
    this.failure = failure;
    this.streams = streams;
    this.trailer = streams.trailer;
  }

  /** The same failure, with what had been decoded before it. */
  with(streams: CapturedStreams): CaptureError {
    return new CaptureError(this.failure, this.message, streams);
  }
}

const noStreams: CapturedStreams = { stdout: new Uint8Array(), stderr: new Uint8Array() };
