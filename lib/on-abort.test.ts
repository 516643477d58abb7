import { expect, it, vi } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { createFairPool } from './fair-pool.ts';
import { onAbort } from './on-abort.ts';

it('EDGE-REST-40 a thousand that wait with one signal share one listener, and all hear of it', async () => {
  const stop = new AbortController();
  const added = vi.spyOn(stop.signal, 'addEventListener');
  const pool = createFairPool({ size: 1, clock: createManualClock() });
  const held = await pool.enter({ tenant: 'acme', signal: stop.signal });
  const waits = Array.from({ length: 1_000 }, () => pool.enter({ tenant: 'acme', signal: stop.signal }));
  expect(added).toHaveBeenCalledTimes(1);
  stop.abort(new Error('stopped'));
  const outcomes = await Promise.allSettled(waits);
  expect(new Set(outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : 'admitted')))).toEqual(
    new Set(['Error: stopped']),
  );
  expect(pool.waiting).toBe(0);
  held.leave();
});

it('one that does not listen any more hears nothing, and leaves nothing at the signal', () => {
  const { signal } = new AbortController();
  const removed = vi.spyOn(signal, 'removeEventListener');
  const heard: string[] = [];
  const offs = ['a', 'b'].map((name) => onAbort(signal, () => heard.push(name)));
  offs[0]?.();
  offs[0]?.();
  expect(removed).not.toHaveBeenCalled();
  offs[1]?.();
  expect(removed).toHaveBeenCalledTimes(1);
  const off = onAbort(signal, () => heard.push('c'));
  signal.dispatchEvent(new Event('abort'));
  off();
  expect(heard).toEqual(['c']);
});

it('one that listens to a signal which has aborted hears of it at once, and leaves nothing there', () => {
  const signal = AbortSignal.abort();
  const added = vi.spyOn(signal, 'addEventListener');
  const heard: string[] = [];
  const off = onAbort(signal, () => heard.push('a'));
  expect(heard).toEqual(['a']);
  off();
  expect(added).not.toHaveBeenCalled();
});
