import { expect, it } from 'vitest';
import { instantAfter } from './instant.ts';

const now = Date.UTC(2030, 0, 1);
const room = Date.UTC(10_000, 0, 1) - 1 - now;

it.each([
  { delay: 0, want: '2030-01-01T00:00:00.000Z' },
  { delay: 1, want: '2030-01-01T00:00:00.001Z' },
  { delay: room - 1, want: '9999-12-31T23:59:59.998Z' },
  { delay: room, want: '9999-12-31T23:59:59.999Z' },
  { delay: room + 1, want: '9999-12-31T23:59:59.999Z' },
  { delay: 999_999_999 * 3_600_000 * 2 ** 18, want: '9999-12-31T23:59:59.999Z' },
])('AMB-071 $delay ms later is $want, which a status can hold', ({ delay, want }) => {
  expect(instantAfter(now, delay)).toBe(want);
});
