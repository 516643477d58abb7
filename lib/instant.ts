/** The last time that RFC 3339, and so the API server, can write. */
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * RFC 3339 time of `delayMs` after `now`, both in milliseconds. Durations of a definition reach far beyond the year 9999,
 * which no status can hold; such a time is the last that can be written, and means never.
 */
export function instantAfter(now: number, delayMs: number): string {
  return new Date(Math.min(now + delayMs, lastInstant)).toISOString();
}

const clockTime = '(?:[01]\\d|2[0-3]):[0-5]\\d';
const rfc3339 = new RegExp(
  `^(\\d{4})-(\\d\\d)-(\\d\\d)T${clockTime}:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-]${clockTime})$`,
  'i',
);

/** The form of a time, for messages. */
export const instantForm = 'must be an RFC 3339 time with its zone, as 2026-01-31T12:00:00Z';

/**
 * Milliseconds since the Unix epoch of an RFC 3339 time; undefined for any other text. The one grammar of times that callers
 * write: date, time with seconds, up to nine digits of a fraction, and the zone. No leap seconds, as in Kubernetes.
 */
export function parseInstant(text: string): number | undefined {
  const [, year, month, day] = (rfc3339.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return day >= 1 && day <= daysOf(year, month) ? Date.parse(text.toUpperCase()) : undefined;
}

/** 0 for no month: Date.parse takes the 31st of every month for a day of the next. */
function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [31, 0, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}
