/** The last time that RFC 3339, and so the API server, can write. */
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * RFC 3339 time of `delayMs` after `now`, both in milliseconds. Durations of a definition reach far beyond the year 9999,
 * which no status can hold; such a time is the last that can be written, and means never.
 */
export function instantAfter(now: number, delayMs: number): string {
  return new Date(Math.min(now + delayMs, lastInstant)).toISOString();
}
