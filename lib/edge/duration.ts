import type { Duration } from '../../proto/generated/google/protobuf/duration.ts';

/** Milliseconds, of which there may be fractions, as the protocol writes a time. */
export const durationOf = (ms: number): Duration => ({
  seconds: BigInt(Math.floor(ms / 1_000)),
  nanos: Math.floor((ms % 1_000) * 1e6),
});

/** A duration without its fraction of a second. */
export const wholeSeconds = (ms: number): Duration => ({ seconds: BigInt(Math.floor(ms / 1_000)), nanos: 0 });

/** Milliseconds of a duration of the other side; undefined for one that is absent, negative or beyond what a clock counts. */
export function millisecondsOf(duration: Duration | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const ms = Number(duration.seconds) * 1_000 + Math.floor(duration.nanos / 1e6);
  return Number.isSafeInteger(ms) && ms >= 0 ? ms : undefined;
}
