/**
 * How far the clock of this machine and that of the API server are apart, by the `Date` of its answers. That has whole
 * seconds, and an answer takes a while: only what no delay can explain counts.
 */
export interface ClockSkew {
  /** `date` is the header of an answer; the times are when the request was sent and when the answer was here, in milliseconds. */
  observe(date: string | undefined, sentAt: number, answeredAt: number): void;
  /** Milliseconds by which our clock is ahead at least, below zero where it is behind; undefined before the first answer. */
  ms(): number | undefined;
}

/** The resolution of an HTTP date. */
const secondMs = 1_000;

export function createClockSkew(): ClockSkew {
  let skewMs: number | undefined;
  return {
    observe(date, sentAt, answeredAt) {
      const serverAt = Date.parse(date ?? '');
      if (Number.isNaN(serverAt)) return;
      const [least, most] = [sentAt - serverAt - secondMs, answeredAt - serverAt];
      skewMs = Math.max(0, least) + Math.min(0, most);
    },
    ms: () => skewMs,
  };
}
