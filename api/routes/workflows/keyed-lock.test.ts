import { describe, expect, it } from 'vitest';
import { createKeyedLock } from './keyed-lock.ts';

describe('a keyed lock', () => {
  it('let calls about one thing in one after another, and those about another at once', async () => {
    const locked = createKeyedLock();
    const log: string[] = [];
    const call = (name: string) => async () => {
      log.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} out`);
    };
    await Promise.all([locked('x', call('a')), locked('x', call('b')), locked('y', call('c'))]);
    expect(log).toEqual(['a in', 'c in', 'a out', 'b in', 'c out', 'b out']);
  });

  it('continue after one that failed', async () => {
    const locked = createKeyedLock();
    const failing = locked('x', () => Promise.reject(new Error('no')));
    const next = locked('x', async () => 7);
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe(7);
  });
});
