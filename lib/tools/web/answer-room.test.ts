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
  it('counts the bytes of an answer whose values wait for room', async () => {
    const room = createAnswerRoom({ clock: systemClock, size });
    const [first, second] = [1, 2].map(() => room.of({ tenant: 'acme', cost, signal }));
    const other = room.of({ tenant: 'globex', cost, signal });
    if (first === undefined || second === undefined) throw new Error('two answers');
    await first.grow();
    await other.grow();
    const log: string[] = [];
    const waits = [noted(log, 'second', second.grow()), noted(log, 'values of the first', first.hold(45))];
    await setImmediate();
    // Forty are free but for the ten bytes of the first one.
    expect(log).toEqual([]);
    other[Symbol.dispose]();
    await setImmediate();
    expect(log).toEqual(['second']);
    second[Symbol.dispose]();
    await Promise.all(waits);
    first.keep(5);
    using last = room.of({ tenant: 'globex', cost: 65, signal });
    await last.grow();
    first[Symbol.dispose]();
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
