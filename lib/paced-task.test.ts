import { describe, expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { createPacedTask } from './paced-task.ts';

/** A task that ends when the test ends it. */
function world() {
  const clock = createManualClock(0);
  const starts: number[] = [];
  let end: () => void = () => undefined;
  const task = createPacedTask(
    clock,
    (tookMs) => 1_000 - tookMs,
    () => {
      starts.push(clock.now());
      return new Promise((resolve) => {
        end = resolve;
      });
    },
  );
  return { clock, task, starts, end: () => end() };
}

describe('a paced task', () => {
  it('runs once for all who ask before it begins', async () => {
    const { clock, task, starts, end } = world();
    const all = Promise.all([task.next(), task.next(), task.join()]);
    await clock.advance(0);
    end();
    await all;
    expect(starts).toEqual([0]);
  });

  it('join takes the run under way, next waits for one that begins later', async () => {
    const { clock, task, starts, end } = world();
    const first = task.next();
    await clock.advance(0);
    const joined = task.join();
    const next = task.next();
    await clock.advance(5_000);
    end();
    await Promise.all([first, joined]);
    await clock.advance(0);
    expect(starts).toEqual([0, 5_000]);
    end();
    await next;
  });

  it.each([-3_600_000, 3_600_000])('AMB-121 rests for its time, the time of day set by %i ms', async (stepMs) => {
    const { clock, task, starts, end } = world();
    const first = task.next();
    await clock.advance(0);
    end();
    await first;
    clock.step(stepMs);
    const second = task.next();
    await clock.advance(999);
    expect(starts).toHaveLength(1);
    await clock.advance(1);
    expect(starts).toHaveLength(2);
    end();
    await second;
  });

  it.each([
    [999, [0]],
    [1_000, [0, 1_000]],
    [1_001, [0, 1_000]],
  ])('AMB-121 %i ms after a beginning the next one has begun or not', async (ms, want) => {
    const { clock, task, starts, end } = world();
    const first = task.next();
    await clock.advance(0);
    end();
    await first;
    const second = task.next();
    await clock.advance(ms);
    expect(starts).toEqual(want);
    await clock.advance(1_000);
    end();
    await second;
  });

  it('that fails does so for all who asked, and rests before the next run as after any other', async () => {
    const clock = createManualClock(0);
    const answers = [new Error('away'), undefined];
    const starts: number[] = [];
    const task = createPacedTask(
      clock,
      () => 500,
      async () => {
        starts.push(clock.now());
        const answer = answers.shift();
        if (answer !== undefined) throw answer;
      },
    );
    const both = await Promise.allSettled([task.next(), task.next()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const again = task.join();
    await clock.advance(500);
    await expect(again).resolves.toBeUndefined();
    expect(starts).toEqual([0, 500]);
  });
});
