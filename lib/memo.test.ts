import { describe, expect, it } from 'vitest';
import { memoize } from './memo.ts';

function counted(keys: number, length = 100): { get: (key: string) => string; calls: string[] } {
  const calls: string[] = [];
  const get = memoize({ keys, length }, (key) => {
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

  it('forgets keys until those that stay fit together', () => {
    const { get, calls } = counted(10, 6);
    for (const key of ['aa', 'bbb', 'c', 'aa', 'dddd', 'c', 'aa']) get(key);
    expect(calls).toEqual(['aa', 'bbb', 'c', 'dddd', 'c', 'aa']);
  });

  it('forgets keys until what their results weigh fits as well', () => {
    const calls: string[] = [];
    const compute = (key: string): number => {
      calls.push(key);
      return Number(key);
    };
    const get = memoize({ keys: 10, length: 10 }, compute, (result) => result);
    for (const key of ['3', '4', '3', '6', '3', '9', '9', '11', '11']) get(key);
    expect(calls).toEqual(['3', '4', '6', '3', '9', '11', '11']);
  });

  it.each([
    [5, 1],
    [6, 1],
    [7, 2],
  ])('a key of %i of 6 characters is computed %i times', (length, times) => {
    const { get, calls } = counted(10, 6);
    for (let call = 0; call < 2; call++) get('x'.repeat(length));
    expect(calls).toHaveLength(times);
  });

  it('does not remember a failure', () => {
    const { get, calls } = counted(2);
    expect(() => get('bad')).toThrow('no');
    expect(() => get('bad')).toThrow('no');
    expect(calls).toEqual(['bad', 'bad']);
  });

  it('remembers that the result was undefined', () => {
    let calls = 0;
    const get = memoize({ keys: 2, length: 100 }, () => {
      calls++;
    });
    get('a');
    get('a');
    expect(calls).toBe(1);
  });
});
