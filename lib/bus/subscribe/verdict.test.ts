import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError, type ErrorCode, TerminalError, WaitError } from '../../errors.ts';
import { judgeArrival, judgeFailure } from './verdict.ts';

const backoff = { baseMs: 1_000, maxMs: 60_000 };
const attempt = (number: number, random = 1) => ({ number, most: 3, backoff, random });

describe('a failed attempt', () => {
  it.each([
    [1, 'again'],
    [2, 'again'],
    [3, 'dead'],
    [4, 'dead'],
  ])('number %d of 3 ends as %s', (number, kind) => {
    expect(judgeFailure(new Error('away'), attempt(number)).kind).toBe(kind);
  });

  it('is repeated after a delay that doubles, and half of which is by chance', () => {
    const delay = (number: number, random: number): unknown =>
      judgeFailure(new Error('x'), { ...attempt(number, random), most: 99 });
    expect(delay(1, 1)).toMatchObject({ afterMs: 1_000 });
    expect(delay(1, 0)).toMatchObject({ afterMs: 500 });
    expect(delay(2, 1)).toMatchObject({ afterMs: 2_000 });
    expect(delay(6, 1)).toMatchObject({ afterMs: 32_000 });
    expect(delay(7, 1)).toMatchObject({ afterMs: 60_000 });
    expect(delay(90, 1)).toMatchObject({ afterMs: 60_000 });
  });

  it('is repeated when the handler says so', () => {
    expect(judgeFailure(new WaitError('NotYet', 1_234), attempt(1))).toMatchObject({ kind: 'again', afterMs: 1_234 });
    expect(judgeFailure(new WaitError('NotYet', 1_234), attempt(3))).toMatchObject({ kind: 'dead' });
  });

  it.each<[ErrorCode, string]>([
    ['invalid', 'dead'],
    ['unauthenticated', 'dead'],
    ['forbidden', 'dead'],
    ['not_found', 'dead'],
    ['already_exists', 'dead'],
    ['gone', 'dead'],
    ['limit_exceeded', 'dead'],
    ['terminal', 'dead'],
    ['conflict', 'again'],
    ['timeout', 'again'],
    ['unavailable', 'again'],
    ['cancelled', 'again'],
    ['wait', 'again'],
    ['lost_leadership', 'again'],
    ['internal', 'again'],
  ])('with the code %s ends as %s at once', (code, kind) => {
    expect(judgeFailure(new AppError(code, 'x', { reason: 'Because' }), attempt(1)).kind).toBe(kind);
  });

  it('says why it was the last one', () => {
    expect(judgeFailure(new TerminalError('Broken', 'no such field'), attempt(1))).toEqual({
      kind: 'dead',
      reason: 'Broken',
      problem: 'no such field',
    });
    expect(judgeFailure('text', attempt(3))).toEqual({ kind: 'dead', reason: 'AttemptsExhausted', problem: 'text' });
  });

  it('never waits longer than the back-off says, nor less than half of its first delay', () => {
    const numbers = fc.integer({ min: 1, max: 1_000 });
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1, noNaN: true }), (number, random) => {
        const verdict = judgeFailure(new Error('x'), { number, most: 2_000, backoff, random });
        if (verdict.kind !== 'again') throw new Error('dead');
        expect(verdict.afterMs).toBeGreaterThanOrEqual(500);
        expect(verdict.afterMs).toBeLessThanOrEqual(60_000);
      }),
    );
  });
});

describe('a delivery', () => {
  it.each([
    [1, undefined],
    [3, undefined],
    [4, 'dead'],
  ])('number %d of at most 3 is %s before it is handled', (number, kind) => {
    expect(judgeArrival({ number, most: 3 })?.kind).toBe(kind);
  });
});
