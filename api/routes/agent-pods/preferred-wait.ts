import type { RouteRequest } from '../../../lib/http/route.ts';

/** Longest wait that a pod may ask for. */
const longestSeconds = 300;
const wait = /(?:^|[,;])[ \t]*wait[ \t]*=[ \t]*"?([0-9]{1,6})"?[ \t]*(?=$|[,;])/i;

/**
 * How long a request waits for a command before the answer is 204, in ms: the preference `wait` of RFC 7240, in seconds.
 * Undefined without one: the request is held until there is a command or the end, as spec 1 §4.5 knows no other answer.
 */
export function preferredWaitMs({ rawHeaders }: Pick<RouteRequest<never, unknown>, 'rawHeaders'>): number | undefined {
  for (const [name, value] of rawHeaders) {
    const [, seconds] = (name === 'prefer' ? wait.exec(value) : undefined) ?? [];
    if (seconds !== undefined) return Math.min(Number(seconds), longestSeconds) * 1_000;
  }
  return undefined;
}
