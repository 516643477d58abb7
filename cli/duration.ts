import { CliError } from './exit-codes.ts';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `90`, `90s`, `1h30m`, `500ms`; a bare number counts seconds. Throws a usage error otherwise. */
export function parseTimeout(text: string): number {
  const whole = /^\d+$/.test(text) ? `${text}s` : text;
  if (!/^(\d+(ms|[smhd]))+$/.test(whole)) {
    throw new CliError('usage', `'${text}' is not a duration`, 'Use forms such as 90s, 5m or 1h30m.');
  }
  let total = 0;
  for (const [, digits, unit] of whole.matchAll(/(\d+)(ms|[smhd])/g))
    total += Number(digits) * (unitMs[unit ?? ''] ?? 0);
  return total;
}

/** A span of time for people: `0.4s`, `59.9s`, `3m04s`, `2h07m`, `4d03h`. Negative spans count as zero. */
export function formatElapsed(ms: number): string {
  const span = Math.max(0, ms);
  if (span < 60_000) return `${(Math.floor(span / 100) / 10).toFixed(1)}s`;
  const seconds = Math.floor(span / 1000);
  if (span < 3_600_000) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  const minutes = Math.floor(seconds / 60);
  if (span < 86_400_000) return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)}d${two(hours % 24)}h`;
}

/** How long ago, in the one or two units that `kubectl get` would show: `12s`, `5m`, `7h`, `3d`. */
export function formatAge(since: string | undefined, now: number): string {
  if (since === undefined) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
