import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { remember } from './remembered.ts';

describe('remembered values', () => {
  const setup = (capacity = 10) => {
    const clock = createManualClock();
    const asked: string[] = [];
    const answers: ((value: string | Error) => void)[] = [];
    const load = (key: string): Promise<string> => {
      asked.push(key);
      return new Promise((resolve, reject) => {
        answers.push((value) => (value instanceof Error ? reject(value) : resolve(value)));
      });
    };
    const values = remember(clock, load, { ttlMs: (value) => (value === 'short' ? 10 : 1_000), capacity });
    return { clock, asked, answers, values };
  };

  it('are asked for once, however many want them at the same time', async () => {
    const { values, asked, answers } = setup();
    const all = Promise.all(Array.from({ length: 100 }, () => values.get('a')));
    answers[0]?.('one');
    expect(new Set(await all)).toEqual(new Set(['one']));
    expect(asked).toEqual(['a']);
  });

  it('are good for their time and no longer', async () => {
    const { values, asked, answers, clock } = setup();
    const first = values.get('a');
    answers[0]?.('short');
    expect(await first).toBe('short');
    await clock.advance(9);
    expect(await values.get('a')).toBe('short');
    await clock.advance(1);
    const second = values.get('a');
    answers[1]?.('long');
    expect(await second).toBe('long');
    await clock.advance(999);
    expect(await values.get('a')).toBe('long');
    expect(asked).toEqual(['a', 'a']);
  });

  it('are asked for again after a failure, which all who waited see', async () => {
    const { values, asked, answers } = setup();
    const failed = Promise.allSettled([values.get('a'), values.get('a')]);
    answers[0]?.(new Error('down'));
    expect(await failed).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    const again = values.get('a');
    answers[1]?.('up');
    expect(await again).toBe('up');
    expect(asked).toEqual(['a', 'a']);
  });

  it('can be set and forgotten', async () => {
    const { values, asked, answers } = setup();
    values.set('a', 'set');
    expect(await values.get('a')).toBe('set');
    values.forget('a');
    const asking = values.get('a');
    answers[0]?.('asked');
    expect(await asking).toBe('asked');
    expect(asked).toEqual(['a']);
  });

  it('are at most as many as there is room for', async () => {
    const { values, asked } = setup(2);
    values.set('a', '1');
    values.set('b', '2');
    values.set('c', '3');
    expect(await values.get('b')).toBe('2');
    expect(await values.get('c')).toBe('3');
    void values.get('a');
    expect(asked).toEqual(['a']);
  });
});
