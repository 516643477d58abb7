import { describe, expect, it } from 'vitest';
import type { HttpError } from '../../../lib/http/http-error.ts';
import { WaitingRequests } from './waiting-requests.ts';

const statusOf = (enter: () => unknown): number | undefined => {
  try {
    enter();
    return undefined;
  } catch (error) {
    return (error as HttpError).options.status;
  }
};

describe('requests of pods that wait', () => {
  it('are four of an execution at once, and the fifth is refused until one has its answer', () => {
    const waiting = new WaitingRequests();
    const places = [1, 2, 3, 4].map(() => waiting.enter('a'));
    expect(statusOf(() => waiting.enter('a'))).toBe(429);
    expect(statusOf(() => waiting.enter('b'))).toBeUndefined();
    places[0]?.[Symbol.dispose]();
    expect(statusOf(() => waiting.enter('a'))).toBeUndefined();
    expect(statusOf(() => waiting.enter('a'))).toBe(429);
  });
});
