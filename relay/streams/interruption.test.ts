import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Interruption } from './interruption.ts';

const problem = new Error('over');

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe('an interruption', () => {
  it('lets work answer and fail as it does', async () => {
    const interruption = new Interruption();
    await expect(interruption.during(Promise.resolve(7))).resolves.toBe(7);
    await expect(interruption.during(Promise.reject(new Error('own')))).rejects.toThrow('own');
  });

  it('ends the work under way, and all that follows', async () => {
    const interruption = new Interruption();
    const waiting = interruption.during(new Promise(() => undefined));
    interruption.end(problem);
    interruption.end(new Error('later'));
    await expect(waiting).rejects.toBe(problem);
    await expect(interruption.during(Promise.resolve(7))).rejects.toBe(problem);
  });

  it('leaves a failure of interrupted work unheard', async () => {
    const interruption = new Interruption();
    const { promise, reject } = Promise.withResolvers<never>();
    const waiting = interruption.during(promise);
    interruption.end(problem);
    await expect(waiting).rejects.toBe(problem);
    reject(new Error('too late'));
  });

  it('keeps nothing of the messages that have passed', async () => {
    const interruption = new Interruption();
    const passed: WeakRef<object>[] = [];
    for (let turn = 0; turn < 1_000; turn += 1) {
      const message = { bytes: Buffer.alloc(1_000) };
      passed.push(new WeakRef(message));
      await interruption.during(Promise.resolve(message));
    }
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(passed.filter((reference) => reference.deref() !== undefined).length).toBeLessThan(10);
    interruption.end(problem);
  });
});
