import { describe, expect, it } from 'vitest';
import { subjectShare } from './stream-shares.ts';

/** A stream of 1,000 KiB with messages of one KiB: 800 of them are for the subjects. */
const share = (...counts: number[]): number => {
  const messages = counts.reduce((sum, count) => sum + count, 0);
  const subjects = new Map(counts.map((count, index) => [`s${index}`, count]));
  return subjectShare({ messages, bytes: messages * 1_024, subjects }, 1_000 * 1_024);
};

describe('the share of one subject of a stream', () => {
  it.each<[string, number[], number]>([
    ['an empty stream is what the stream may hold', [], 800],
    ['a stream of one subject is the same', [300], 800],
    ['a stream with room is what the largest has and what is free', [300, 100], 700],
    ['a stream that is just full is what the largest has', [700, 100], 700],
    ['a stream with one message too much takes it from the largest', [701, 100], 700],
    ['two large subjects is half of what the small ones leave', [5_000, 600, 100], 350],
    ['many equal subjects is an equal part', [200, 200, 200, 200, 200], 160],
    ['more subjects than messages fit is one', Array.from({ length: 2_000 }, () => 1), 1],
  ])('of %s', (_what, counts, want) => {
    expect(share(...counts)).toBe(want);
  });
});
