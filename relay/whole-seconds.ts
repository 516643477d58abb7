import type { Duration } from '../proto/generated/google/protobuf/duration.ts';

/** A duration without its fraction of a second. */
export const wholeSeconds = (ms: number): Duration => ({ seconds: BigInt(Math.floor(ms / 1_000)), nanos: 0 });
