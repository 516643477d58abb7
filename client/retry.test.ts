import { describe, expect, it } from 'vitest';
import { WindlassApiError, WindlassConnectionError } from './api-error.ts';
import { backoff, pauseBefore } from './retry.ts';

const answered = (status: number, retryAfter?: string): WindlassApiError =>
  new WindlassApiError(
    status,
    { error: 'x' },
    new Headers(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  );
const lost = new WindlassConnectionError('lost');

describe('whether a call is repeated, and when', () => {
  const cases: Record<string, { error: unknown; repeatable: boolean; want: number | undefined }> = {
    'a read after a lost connection': { error: lost, repeatable: true, want: 100 },
    'a write after a lost connection is not: it may have happened': { error: lost, repeatable: false, want: undefined },
    'a read that met 502': { error: answered(502), repeatable: true, want: 100 },
    'a read that met 503 waits as the server asks': { error: answered(503, '3'), repeatable: true, want: 3_000 },
    'a write that met 503 is not': { error: answered(503, '1'), repeatable: false, want: undefined },
    'a read that met 504': { error: answered(504), repeatable: true, want: 100 },
    'a read that met 500 is not: it would meet it again': { error: answered(500), repeatable: true, want: undefined },
    'anything that met 429 has not begun': { error: answered(429, '2'), repeatable: false, want: 2_000 },
    'a Retry-After of 30 seconds is waited for': { error: answered(429, '30'), repeatable: false, want: 30_000 },
    'one of 31 seconds is not': { error: answered(429, '31'), repeatable: false, want: undefined },
    'a refusal is final': { error: answered(409), repeatable: true, want: undefined },
    'so is what is no failure of the call': { error: new TypeError('x'), repeatable: true, want: undefined },
  };

  it.each(Object.entries(cases))('%s', (_, { error, repeatable, want }) => {
    expect(pauseBefore(1, error, { repeatable }, 0)).toBe(want);
  });

  it('waits twice as long each time, between half and all of it, up to five seconds', () => {
    expect([1, 2, 3].map((attempt) => backoff(attempt, 0))).toEqual([100, 200, 400]);
    expect([1, 2, 3].map((attempt) => backoff(attempt, 1))).toEqual([200, 400, 800]);
    expect(backoff(50, 1)).toBe(5_000);
  });

  it('reads a Retry-After that is a date', () => {
    const error = answered(503, new Date(Date.now() + 5_000).toUTCString());
    expect(error.retryAfterMs).toBeGreaterThan(3_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(5_000);
    expect(answered(503, new Date(0).toUTCString()).retryAfterMs).toBe(0);
    expect(answered(503, 'soon').retryAfterMs).toBeUndefined();
  });
});
