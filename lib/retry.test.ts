import { describe, expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { doublingWhile, firstAnswer, tryAgain, tryPaced } from './retry.ts';

const passes = new Error('passes');
const lasts = new Error('lasts');
const isPassing = (error: unknown): boolean => error === passes;

/** Fails with each of the errors in turn, then answers; `heard` are the numbers of the attempts. */
function failing(...errors: readonly Error[]) {
  const heard: number[] = [];
  const left = [...errors];
  const attempt = async (number: number): Promise<string> => {
    heard.push(number);
    const error = left.shift();
    if (error !== undefined) throw error;
    return 'done';
  };
  return { attempt, heard };
}

describe('another attempt at once', () => {
  it('follows a failure that is worth one, and ends with the first answer', async () => {
    const { attempt, heard } = failing(passes, passes);
    expect(await tryAgain(3, isPassing, attempt)).toBe('done');
    expect(heard).toEqual([1, 2, 3]);
  });

  it('does not follow a failure that is not worth one', async () => {
    const { attempt, heard } = failing(lasts);
    await expect(tryAgain(3, isPassing, attempt)).rejects.toBe(lasts);
    expect(heard).toEqual([1]);
  });

  it('does not follow the last of all attempts', async () => {
    const { attempt, heard } = failing(passes, passes);
    await expect(tryAgain(2, isPassing, attempt)).rejects.toBe(passes);
    expect(heard).toEqual([1, 2]);
  });
});

describe('the first answer of several attempts', () => {
  it.each([
    ['is that of the first attempt which has one', 3, 2, 'answer 2'],
    ['may be that of the last attempt', 3, 3, 'answer 3'],
    ['is undefined where no attempt has one', 3, 4, undefined],
  ])('%s', async (_sentence, times, answering, want) => {
    const answer = await firstAnswer(times, async (number) => (number === answering ? `answer ${number}` : undefined));
    expect(answer).toBe(want);
  });

  it('may be false', async () => {
    expect(await firstAnswer(3, async (number) => (number === 1 ? false : undefined))).toBe(false);
  });
});

describe('another attempt after a pause', () => {
  it('begins when the pause of that failure is over', async () => {
    const clock = createManualClock(0);
    const { attempt, heard } = failing(passes, passes);
    const done = tryPaced({ clock, pauseAfter: (_error, failures) => failures * 100 }, () => attempt(clock.now()));
    await clock.advance(1_000);
    expect(await done).toBe('done');
    expect(heard).toEqual([0, 100, 300]);
  });

  it('does not follow where the pause is refused', async () => {
    const clock = createManualClock(0);
    const pauseAfter = (error: unknown): number => {
      throw new Error('given up', { cause: error });
    };
    await expect(tryPaced({ clock, pauseAfter }, () => failing(passes).attempt(1))).rejects.toMatchObject({
      message: 'given up',
      cause: passes,
    });
  });

  it('comes after a pause that doubles up to its maximum, for as long as the failures may pass', async () => {
    const clock = createManualClock(0);
    const { attempt, heard } = failing(passes, passes, passes, passes, lasts);
    const pauseAfter = doublingWhile({ baseMs: 100, maxMs: 300 }, (error) => error === passes);
    const done = tryPaced({ clock, pauseAfter }, () => attempt(clock.now()));
    const [end] = await Promise.allSettled([done, clock.advance(10_000)]);
    expect(end).toEqual({ status: 'rejected', reason: lasts });
    expect(heard).toEqual([0, 100, 300, 600, 900]);
  });

  it.each([
    ['follows the last but one of all attempts', 3, 2, 'done'],
    ['does not follow the last of all attempts', 3, 3, passes],
    ['does not follow the only one', 1, 1, passes],
  ])('%s', async (_sentence, times, failures, want) => {
    const clock = createManualClock(0);
    const { attempt, heard } = failing(...Array.from({ length: failures }, () => passes));
    const pauseAfter = doublingWhile({ baseMs: 100, maxMs: 300, times });
    const done = tryPaced({ clock, pauseAfter }, () => attempt(1)).catch((error: unknown) => error);
    await clock.advance(10_000);
    expect(await done).toBe(want);
    expect(heard).toHaveLength(times);
  });

  it('is not made where its signal has aborted, and neither is a first one', async () => {
    const clock = createManualClock(0);
    const { attempt, heard } = failing();
    const pace = { clock, pauseAfter: () => 100, signal: AbortSignal.abort(lasts) };
    await expect(tryPaced(pace, () => attempt(1))).rejects.toBe(lasts);
    expect(heard).toEqual([]);
  });

  it('does not follow an abort during the pause', async () => {
    const clock = createManualClock(0);
    const stop = new AbortController();
    const { attempt, heard } = failing(passes);
    const done = tryPaced({ clock, pauseAfter: () => 100, signal: stop.signal }, () => attempt(1));
    await clock.advance(50);
    stop.abort(lasts);
    await expect(done).rejects.toBe(lasts);
    expect(heard).toEqual([1]);
  });
});
