import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fullJitter } from '../lib/backoff.ts';
import { heartbeatMsOf } from './heartbeat.ts';
import { daemonLimits } from './limits.ts';
import { isRotationDue } from './rotation.ts';

const day = 86_400_000;

describe('a rotation is due', () => {
  it.each<[title: string, age: number, heldMs: number, isDue: boolean]>([
    ['not before half of the life', day / 2 - 1, 0, false],
    ['at half of the life', day / 2, 0, true],
    ['by the time of the process, where the clock was set back', 0, day / 2, true],
    ['where the clock is before the token by more than the skew', -300_001, 0, true],
    ['not where it is before it by the skew', -300_000, 0, false],
    ['where the clock jumped far ahead', 400 * day, 0, true],
  ])('%s', (_title, age, heldMs, isDue) => {
    expect(isRotationDue({ receivedAt: day, lifeMs: day, pendingKeys: [] }, { now: day + age, heldMs })).toBe(isDue);
  });

  it.each([
    [0, false],
    [1, true],
    [8, true],
  ])('EDGE-FLOW-22 with a fresh token and %d keys whose answers have not come: %s', (count, isDue) => {
    const pendingKeys = Array.from({ length: count }, () => generateKeyPairSync('ed25519').privateKey);
    expect(isRotationDue({ receivedAt: day, lifeMs: day, pendingKeys }, { now: day, heldMs: 0 })).toBe(isDue);
  });
});

describe('the pause before a connection', () => {
  it.each([
    [0, 0.999_999, 1_000],
    [1, 0.999_999, 2_000],
    [5, 0.999_999, 32_000],
    [6, 0.999_999, 60_000],
    [1e6, 0.999_999, 60_000],
  ])('after %d failures is by chance up to a bound', (failures, chance, bound) => {
    const pauseMs = (by: number): number => fullJitter(daemonLimits.backoff, failures, by);
    expect(pauseMs(0)).toBe(0);
    expect(pauseMs(chance)).toBeGreaterThanOrEqual(bound - 1);
    expect(pauseMs(chance)).toBeLessThan(bound);
  });
});

describe('EDGE-FLOW-07 the interval of heartbeats that a server asks for', () => {
  it.each<[title: string, seconds: bigint, nanos: number, want: number]>([
    ['is taken', 30n, 0, 30_000],
    ['is a second at least', 0n, 999_000_000, 1_000],
    ['is a second at least, also where it is nothing', 0n, 0, 1_000],
    ['is an hour at most', 3_600n, 1_000_000, 3_600_000],
    ['is an hour at most, however large', 2n ** 40n, 0, 3_600_000],
  ])('%s', (_title, seconds, nanos, want) => {
    expect(heartbeatMsOf({ seconds, nanos })).toBe(want);
  });

  it('is nothing where the server says none, or a negative one', () => {
    expect([heartbeatMsOf(undefined), heartbeatMsOf({ seconds: -1n, nanos: 0 })]).toEqual([undefined, undefined]);
  });
});
