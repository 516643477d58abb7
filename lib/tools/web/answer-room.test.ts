import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../clock.ts';
import { createAnswerRoom, memoryOf } from './answer-room.ts';

const { signal } = new AbortController();
/** Bytes of the largest answer. */
const largest = 10;
const cost = memoryOf(largest);
/** Seventy for the largest answers, and ten for those that begin. */
const size = 80;
const kibibyte = 1_024;

/** Notes when a wait is over. */
async function noted(log: string[], name: string, wait: Promise<void>): Promise<void> {
  await wait;
  log.push(name);
}

describe('room for answers', () => {
  it('says that it is full where the time of a wait is up, and has the reason of its caller else', async () => {
    const room = createAnswerRoom({ clock: systemClock, size });
    using first = room.of({ tenant: 'acme', cost: 56, signal });
    await first.grow();
    const late = room.of({ tenant: 'acme', cost, signal: AbortSignal.timeout(10) });
    await expect(late.grow()).rejects.toMatchObject({ reason: 'Overloaded' });
    await expect(room.of({ tenant: 'acme', cost, signal: AbortSignal.abort('gone') }).grow()).rejects.toBe('gone');
  });

  it('gives none to 32 KiB, a growing part up to a mebibyte, and the whole beyond, which no beginning takes', async () => {
    const room = createAnswerRoom({ clock: systemClock, size: 8 * 320 * kibibyte });
    const asked = { tenant: 'acme', cost: 1_024 * kibibyte, signal };
    const answers = Array.from({ length: 4 }, () => room.of(asked));
    const log: string[] = [];
    for (const [index, answer] of answers.entries()) {
      await answer.grow(32 * kibibyte);
      void noted(log, `${index}`, answer.grow(128 * kibibyte));
    }
    await setImmediate();
    // One tenant has four fifths of 320 KiB.
    expect(log).toEqual(['0', '1']);
    // It has no room to grow there.
    await answers[0]?.grow(256 * kibibyte);
    await setImmediate();
    expect(log).toEqual(['0', '1', '2']);
    for (const answer of answers) answer[Symbol.dispose]();
    await setImmediate();
    expect(log).toEqual(['0', '1', '2', '3']);
  });
});
