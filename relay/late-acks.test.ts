import { describe, expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { LateAcks } from './late-acks.ts';

function begin() {
  const clock = createManualClock();
  const written: string[][] = [];
  const stream = (problem?: Error) => {
    let owed: string[] = [];
    return {
      owe: (commandId: string): number => owed.push(commandId),
      async acknowledge(): Promise<void> {
        if (problem !== undefined) throw problem;
        if (owed.length > 0) written.push(owed);
        owed = [];
      },
    };
  };
  return { clock, written, stream, acks: new LateAcks(clock) };
}

describe('EDGE-FLOW-11 acknowledgements', () => {
  it('of a stream leave together, 5 ms after the first', async () => {
    const { clock, written, stream, acks } = begin();
    const one = stream();
    await acks.add(one, 'a');
    await acks.add(one, 'b');
    await clock.advance(4);
    expect(written).toEqual([]);
    await clock.advance(1);
    expect(written).toEqual([['a', 'b']]);
    expect(clock.sleepers).toBe(0);
    await acks.add(one, 'c');
    await clock.advance(5);
    expect(written).toEqual([['a', 'b'], ['c']]);
  });

  it.each([
    [7, 36, 0],
    [8, 36, 1],
    [9, 36, 1],
    [1, 37, 1],
  ])('of %i results of one stream, with ids of %i characters, are %i messages at once', async (count, length, want) => {
    const { clock, written, stream, acks } = begin();
    const one = stream();
    for (let number = 0; number < count; number += 1) await acks.add(one, String(number).padStart(length, 'x'));
    expect(written).toHaveLength(want);
    await clock.advance(5);
    expect(written.flat()).toHaveLength(count);
  });

  it('of a fleet leave 200 a second, and all after five seconds', async () => {
    const { clock, written, stream, acks } = begin();
    for (let host = 0; host < 5_000; host += 1) await acks.add(stream(), `c-${host}`);
    await clock.advance(1_000);
    expect(written).toHaveLength(200);
    expect(written[199]).toEqual(['c-199']);
    await clock.advance(3_999);
    expect(written).toHaveLength(999);
    await clock.advance(1);
    await expect.poll(() => written.length).toBe(5_000);
    expect(clock.sleepers).toBe(0);
  });

  it('leave at once when the relay stops; a stream that is over keeps none from its own', async () => {
    const { clock, written, stream, acks } = begin();
    await acks.add(stream(new Error('over')), 'lost');
    for (const id of ['a', 'b']) await acks.add(stream(), id);
    await acks.sendAll();
    expect(written).toEqual([['a'], ['b']]);
    await acks.add(stream(new Error('over')), 'lost');
    await acks.add(stream(), 'c');
    await clock.advance(20);
    expect(written).toEqual([['a'], ['b'], ['c']]);
  });
});
