import { describe, expect, it } from 'vitest';
import type { Signal } from '../../crds/schema/workflow-execution.ts';
import { firstSignal } from './first-signal.ts';

const signal = (id: string, fields: Partial<Signal> = {}): Signal => ({
  id,
  state: 'ask',
  response: 'yes',
  by: 'kim',
  at: '2026-01-01T00:00:00Z',
  ...fields,
});
const second = { state: 'ask', visit: 2, signals_before: 1 };

describe('the signal that decides a visit', () => {
  it.each<[title: string, signals: Signal[] | undefined, want: string | undefined]>([
    ['is none where there are none', undefined, undefined],
    [
      'is the first that names it',
      [signal('a', { visit: 1 }), signal('b', { visit: 2 }), signal('c', { visit: 2 })],
      'b',
    ],
    ['is the first that names no visit and came while it waited', [signal('a'), signal('b')], 'b'],
    ['is not one that an earlier visit left', [signal('a')], undefined],
    ['is not one of another state', [signal('a', { visit: 1 }), signal('b', { state: 'other' })], undefined],
    ['is the earlier of both kinds', [signal('x', { visit: 1 }), signal('a'), signal('b', { visit: 2 })], 'a'],
  ])('HUMAN-API-16 %s', (_title, signals, want) => {
    expect(firstSignal(signals, second)?.id).toBe(want);
  });
});
