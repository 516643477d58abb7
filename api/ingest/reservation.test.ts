import { describe, expect, it } from 'vitest';
import { createTimeoutMs, createWithinMs, leaseMs, reservationKey, type Standing, standingOf } from './reservation.ts';

const now = 1_000_000;
const reserved = (age: number) => ({ stimulus_id: 's', state: 'reserved', at: now - age }) as const;

describe('standingOf', () => {
  it.each<[title: string, age: number, want: Standing]>([
    ['a reservation of this moment', 0, { kind: 'held', forMs: leaseMs }],
    ['one in the last millisecond of its lease', leaseMs - 1, { kind: 'held', forMs: 1 }],
    ['one whose lease ends now', leaseMs, { kind: 'abandoned' }],
    ['one whose lease is long over', leaseMs * 1_000, { kind: 'abandoned' }],
    ['one from a clock ahead of ours', -60_000, { kind: 'held', forMs: leaseMs }],
  ])('%s', (_title, age, want) => {
    expect(standingOf(reserved(age), now)).toEqual(want);
  });

  it.each([0, leaseMs, 86_400_000])('is settled once it was routed, %i ms later too', (age) => {
    expect(standingOf({ ...reserved(age), state: 'routed', workflow_execution_id: 'e' }, now)).toEqual({
      kind: 'settled',
    });
  });
});

describe('a lease', () => {
  it('outlasts every creation that may begin in it, and leaves room for clocks that differ', () => {
    expect(createWithinMs + createTimeoutMs).toBeLessThanOrEqual(leaseMs - 3_000);
  });
});

describe('reservationKey', () => {
  it('AMB-048 STIM-35 is another one for another tenant, source or key', () => {
    const keys = [
      reservationKey('acme', 'ci', 'k'),
      reservationKey('globex', 'ci', 'k'),
      reservationKey('acme', 'cd', 'k'),
      reservationKey('acme', 'ci', 'K'),
      reservationKey('acme', 'ci', ''),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('cannot be met by text that runs over from one part into the next', () => {
    expect(reservationKey('a', 'b","c', 'd')).not.toBe(reservationKey('a', 'b', 'c","d'));
    expect(reservationKey('a/b', 'c', 'd')).not.toBe(reservationKey('a', 'b/c', 'd'));
  });

  it('STIM-15 takes any text, however long, and says nothing of it', () => {
    const key = reservationKey('acme', 'ci', '\u0000\ud800 ☃'.repeat(1_000));
    expect(key).toMatch(/^[0-9a-f]{64}$/);
  });
});
