/** How long a replica lets work go on once it is to end, in milliseconds from the signal on. */
export interface LeavingTimes {
  /** Work that the next replica does anew without harm: questions to models and judges, idempotent tools. */
  readonly repeatableMs: number;
  /** All other work, such as calls of registered tools. */
  readonly callsMs: number;
}

/** A model that has nearly answered is paid once. */
const repeatableMs = 10_000;
/** Time for the last writes and for closing, within the grace of the process. */
const lastMs = 20_000;
const leastMs = 6_000;

/** The times within the grace of the process. */
export function leavingTimesOf(graceMs: number): LeavingTimes {
  const callsMs = Math.max(leastMs, graceMs - lastMs);
  return { callsMs, repeatableMs: Math.min(repeatableMs, callsMs) };
}
