import { hash } from 'node:crypto';
import { limits } from '../../crds/limits.ts';
import { CaptureError } from './capture-error.ts';
import { createByteSink, type StreamName, type CapturedStreams } from './captured-streams.ts';
import { createDecoder, type LogEvent } from './decoder.ts';
import type { StreamReport, Trailer } from './trailer.ts';

/** A step's output, byte for byte as the command wrote it up to the limit, and how the command ended. */
export interface Captured extends CapturedStreams {
  readonly trailer: Trailer;
}

interface CaptureOptions {
  /** Most bytes of one stream, as given to the runner's `--limit`. Default: limits.outputStreamBytes. */
  readonly limit?: number;
}

/** Collects a log, followed or whole, and verifies it. */
interface Capture {
  /** Takes the next bytes of the log; returns the output in them, for live readers. */
  push(chunk: Uint8Array): LogEvent[];
  /** Whether the trailer has arrived, or the log cannot be one: `finish` will say the same however much more is read. */
  isComplete(): boolean;
  /** The verified output. Throws CaptureError, which carries what was collected. */
  finish(): Captured;
}

/**
 * Memory: at most twice the limit for each stream. A runner's log stays below the 10 MiB at which the kubelet rotates
 * by default (runner/README.md). So one read of the log API gives all of it. Where a node rotates earlier, the head is
 * lost and `finish` throws `HashMismatch`, unless the log was followed from its beginning.
 */
export function createCapture({ limit = limits.outputStreamBytes }: CaptureOptions = {}): Capture {
  const decoder = createDecoder();
  const sinks = { stdout: createByteSink(limit), stderr: createByteSink(limit) };
  let trailer: Trailer | undefined;
  let failure: CaptureError | undefined;
  const take = (event: LogEvent): void => {
    if (event.kind === 'trailer') trailer = event.trailer;
    else if (event.kind === 'malformed') failure ??= event.error;
    else if (!sinks[event.stream].append(event.bytes)) failure ??= tooLong(event.stream, limit);
  };
  return {
    push(chunk) {
      const events = decoder.push(chunk);
      events.forEach(take);
      return events;
    },
    isComplete: () => trailer !== undefined || failure !== undefined,
    finish() {
      const streams: CapturedStreams = { stdout: sinks.stdout.bytes(), stderr: sinks.stderr.bytes() };
      if (failure !== undefined) throw failure.with(streams);
      if (trailer === undefined) throw new CaptureError('TrailerMissing', 'the log ends without a trailer', streams);
      const captured: Captured = { trailer, ...streams };
      verify(captured, 'stdout');
      verify(captured, 'stderr');
      return captured;
    },
  };
}

const tooLong = (stream: StreamName, limit: number): CaptureError =>
  new CaptureError('MalformedLog', `${stream} is longer than the limit of ${limit} bytes`);

function verify(captured: Captured, name: StreamName): void {
  const problem = problemOf(captured[name], captured.trailer[name]);
  if (problem !== undefined) throw new CaptureError('HashMismatch', `${name} has ${problem}`, captured);
}

/** Whether these are the bytes that the runner passed on, by length and hash. */
export const isProven = (bytes: Uint8Array, report: StreamReport): boolean => problemOf(bytes, report) === undefined;

function problemOf(bytes: Uint8Array, report: StreamReport): string | undefined {
  if (bytes.length !== report.bytes) return `${bytes.length} bytes, the runner passed on ${report.bytes}`;
  return hash('sha256', bytes) === report.sha256 ? undefined : "another hash than the runner's";
}
