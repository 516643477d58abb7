import { expect, it } from 'vitest';
import { furthestFromEqual } from './quota-shares.ts';

it.each([
  { completed: [10, 10, 10], want: 0 },
  { completed: [8, 10, 12], want: 20 },
  { completed: [0, 10, 20], want: 100 },
  { completed: [10, 10, 40], want: 100 },
])('of $completed the furthest is $want % from an equal share', ({ completed, want }) =>
  expect(furthestFromEqual(completed)).toBeCloseTo(want),
);
