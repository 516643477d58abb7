import { describe, expect, it } from 'vitest';
import { createTurns } from './turns.ts';

describe('turns', () => {
  it('let calls about one thing in one after another, and those about another at once', async () => {
    const turns = createTurns();
    const log: string[] = [];
    const call = (name: string) => async () => {
      log.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} out`);
    };
    await Promise.all([turns('x', call('a')), turns('x', call('b')), turns('y', call('c'))]);
    expect(log).toEqual(['a in', 'c in', 'a out', 'b in', 'c out', 'b out']);
  });

  it('continue after one that failed', async () => {
    const turns = createTurns();
    const failing = turns('x', () => Promise.reject(new Error('no')));
    const next = turns('x', async () => 7);
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe(7);
  });
});
