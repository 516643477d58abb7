import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { isTimeUp } from '../../deadline.ts';
import { Answering } from './answering.ts';

const asked = { key: 'k', body: Buffer.from('x'), timeoutMs: 1_000 };

describe('a request under way', () => {
  it('makes no signal where its handler asks for none, whether it is answered or late', async () => {
    const made = vi.spyOn(globalThis, 'AbortController');
    try {
      const clock = createManualClock();
      const before = made.mock.calls.length;
      const [quick, slow] = [new Answering(clock, asked), new Answering(clock, asked)];
      quick[Symbol.dispose]();
      slow.giveUp();
      await expect(slow.late).rejects.toMatchObject({ code: 'timeout', reason: 'RequestTimeout' });
      // Those of the two waits of a manual clock.
      expect(made.mock.calls.length - before).toBe(2);
    } finally {
      made.mockRestore();
    }
  });

  it('tells its handler that the time is up, and no one once it is answered', async () => {
    const clock = createManualClock();
    const [slow, quick] = [new Answering(clock, asked), new Answering(clock, asked)];
    const [early, answered] = [slow.signal, quick.signal];
    quick[Symbol.dispose]();
    const late = slow.late.catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await late).toMatchObject({ reason: 'RequestTimeout' });
    expect([early.aborted, isTimeUp(early), slow.signal]).toEqual([true, true, early]);
    expect(answered.aborted).toBe(false);
    quick.giveUp();
    expect(answered.aborted).toBe(false);
  });

  it('gives a handler that asks late a signal that has aborted', async () => {
    const request = new Answering(createManualClock(), asked);
    request.giveUp();
    await expect(request.late).rejects.toMatchObject({ code: 'timeout' });
    expect(request.signal.aborted).toBe(true);
  });
});
