import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import type { BucketDefinition } from '../bus/kv/bucket-definition.ts';
import type { EventBus, KeyValueBucket } from '../bus/index.ts';
import { systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { createCallCounter } from './call-counter.ts';

let nats: TestBus;
let bus: EventBus;
beforeAll(async () => {
  nats = await startTestBus();
  bus = await nats.connected();
});
afterAll(() => nats?.stop());

/** The bus, where the answers to some writes come too late. `late` hears the number of each write, from 1. */
function lateBus(late: (number: number) => boolean): Pick<EventBus, 'bucket'> {
  let writes = 0;
  const answer = async <R>(write: Promise<R>): Promise<R> => {
    writes += 1;
    const isLate = late(writes);
    const result = await write;
    if (isLate) throw new AppError('unavailable', 'the event bus did not answer in time');
    return result;
  };
  return {
    bucket<T>(definition: BucketDefinition): KeyValueBucket<T> {
      const bucket = bus.bucket<T>(definition);
      return {
        ...bucket,
        create: (...entry) => answer(bucket.create(...entry)),
        update: (...entry) => answer(bucket.update(...entry)),
      };
    },
  };
}

const account = (execution: string) => ({ tenant: 'acme', execution_id: execution });

describe('the count of calls', () => {
  it('gives an execution as many calls as its context allows, over two replicas', async () => {
    const [one, other] = [createCallCounter(bus), createCallCounter(await nats.connected())];
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : other).take(account('two'), 7)),
    );
    expect(taken.filter(Boolean)).toHaveLength(7);
  });

  it('takes none for a write whose answer came late: the call is tried again, and all that are allowed run', async () => {
    const counter = createCallCounter(lateBus((number) => number % 2 === 1));
    const answers: (boolean | 'late')[] = [];
    while (answers.filter((answer) => answer !== 'late').length < 4)
      answers.push(await counter.take(account('late'), 3).catch(() => 'late' as const));
    expect(answers.filter((answer) => answer === 'late')).toHaveLength(3);
    const taken = answers.filter((answer) => answer !== 'late');
    expect(taken).toEqual([true, true, true, false]);
  });

  it('takes none for several late answers in a row, to calls that are counted together too', async () => {
    const counter = createCallCounter(lateBus((number) => number <= 4));
    // The first one is counted alone, and those that come meanwhile together.
    const three = async () => {
      const ends = await Promise.allSettled([1, 2, 3].map(() => counter.take(account('row'), 3)));
      return ends.map((end) => (end.status === 'fulfilled' ? end.value : 'late'));
    };
    const late = ['late', 'late', 'late'];
    expect([await three(), await three(), await three()]).toEqual([late, late, [true, true, true]]);
    expect(await counter.take(account('row'), 3)).toBe(false);
  });

  it('takes a call of a name once, whichever replica counts it again', async () => {
    const [one, other] = [createCallCounter(bus), createCallCounter(await nats.connected())];
    const take = (counter: typeof one, callId: string) => counter.take(account('named'), 3, callId);
    expect(await Promise.all([take(one, 'a'), take(one, 'b')])).toEqual([true, true]);
    expect(await Promise.all([take(other, 'b'), take(other, 'c'), take(other, 'd')])).toEqual([true, true, false]);
    expect(await take(one, 'c')).toBe(true);
    expect(await take(one, 'd')).toBe(false);
  });

  it('keeps what another replica has counted behind the late one', async () => {
    const counter = createCallCounter(lateBus((number) => number === 1));
    const other = createCallCounter(bus);
    await expect(counter.take(account('behind'), 3)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await other.take(account('behind'), 3)).toBe(true);
    expect(await counter.take(account('behind'), 3)).toBe(true);
    expect(await other.take(account('behind'), 3)).toBe(true);
    expect(await counter.take(account('behind'), 3)).toBe(false);
  });
});

describe('a tenant that has its share of all counts', () => {
  it('§11 waits with its calls: a reason of the event bus is none of the execution', async () => {
    const own = await startTestBus();
    try {
      const small = own.connect({ WINDLASS_KEYS_MAX_MB: 1 });
      while (small.problem() !== undefined) await systemClock.sleep(10);
      const counter = createCallCounter(small);
      let refused: unknown;
      for (let at = 0; at < 10_000 && refused === undefined; at += 100) {
        const takes = Array.from({ length: 100 }, (_, index) => counter.take(account(`full-${at + index}`), 3));
        refused = (await Promise.allSettled(takes)).find((end) => end.status === 'rejected')?.reason;
      }
      expect(refused).toMatchObject({ code: 'unavailable', reason: 'CounterBusy' });
      expect(String(refused)).toContain('its share of all counts of tool calls (nats.keys.maxMb)');
      expect(await counter.take(account('full-0'), 3)).toBe(true);
      expect(await counter.take({ tenant: 'globex', execution_id: 'other' }, 3)).toBe(true);
    } finally {
      await own.stop();
    }
  });
});
