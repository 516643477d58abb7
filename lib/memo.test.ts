import { describe, expect, it } from 'vitest';
import { memoize } from './memo.ts';

function counted(capacity: number): { get: (key: string) => string; calls: string[] } {
  const calls: string[] = [];
  const get = memoize(capacity, (key) => {
    calls.push(key);
    if (key === 'bad') throw new Error('no');
    return key.toUpperCase();
  });
  return { get, calls };
}

describe('memoize', () => {
  it('computes a key once', () => {
    const { get, calls } = counted(2);
    expect([get('a'), get('a')]).toEqual(['A', 'A']);
    expect(calls).toEqual(['a']);
  });

  it('forgets the key that was used longest ago', () => {
    const { get, calls } = counted(2);
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) get(key);
    expect(calls).toEqual(['a', 'b', 'c', 'b']);
  });

  it('does not remember a failure', () => {
    const { get, calls } = counted(2);
    expect(() => get('bad')).toThrow('no');
    expect(() => get('bad')).toThrow('no');
    expect(calls).toEqual(['bad', 'bad']);
  });

  it('remembers that the result was undefined', () => {
    let calls = 0;
    const get = memoize(2, () => {
      calls++;
    });
    get('a');
    get('a');
    expect(calls).toBe(1);
  });
});
