import { describe, expect, it } from 'vitest';
import {
  approvalRequested,
  attemptStarted,
  endPosition,
  eventId,
  isBehind,
  nowhere,
  positionOf,
  startPosition,
  visitCompleted,
  visitStarted,
} from './position.ts';

/** All in the order in which they can happen. */
const inOrder = [
  startPosition,
  ...[1, 2, 100, 101].flatMap((visit) => [
    visitStarted(visit),
    approvalRequested(visit),
    attemptStarted(visit, 2),
    attemptStarted(visit, 20),
    visitCompleted(visit),
  ]),
  endPosition,
];

describe('the place of an event', () => {
  it('AMB-030 has an id that leads back to it', () => {
    for (const position of inOrder) expect(positionOf(eventId(position))).toEqual(position);
    expect(new Set(inOrder.map(eventId)).size).toBe(inOrder.length);
  });

  it('is behind exactly those before it', () => {
    for (const [a, first] of inOrder.entries()) {
      expect(isBehind(first, nowhere)).toBe(true);
      for (const [b, second] of inOrder.entries()) expect(isBehind(first, second)).toBe(a > b);
    }
  });

  it.each([
    'start ',
    'END',
    '',
    '0',
    '1',
    '0.started',
    '01.started',
    '1.start',
    '1.attempt',
    '1.attempt.0',
    '1.attempt.1',
    '1.attempt.21',
    '102.started',
    '1e9.started',
    '-1.started',
    '1.started\n',
    '1.completed.2',
    '__proto__',
    '9'.repeat(64),
  ])('is nowhere for the text %j', (text) => {
    expect(positionOf(text)).toBeUndefined();
  });
});
