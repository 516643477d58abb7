import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { AppError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { busError, StreamRefusal } from '../bus-error.ts';
import type { BusEvent } from '../event-bus.ts';
import { createOutbox, type OutboxLimits } from './outbox.ts';

const unavailable = new AppError('unavailable', 'away');
const tooLarge = new AppError('limit_exceeded', 'too large');

function anEvent(id: string, text = '', tenant = 'acme', topic = 'volume'): BusEvent {
  const fixed = { topic, source: 'controllers', type: 'VolumeExpired', subject: 'v' };
  return { id, ...fixed, tenant, time: '2026-01-01T00:00:00Z', data: { text } };
}

/** An outbox before a bus that can be taken away. */
function setUp(limits?: OutboxLimits) {
  const clock = createManualClock();
  const stored: string[] = [];
  const dropped: string[] = [];
  const waiting: { events: number; bytes: number }[] = [];
  const warnings: string[] = [];
  const logged: object[] = [];
  const bus = { failsWith: undefined as Error | undefined, refusesAudit: undefined as Error | undefined };
  const note = (fields: object, message: string): void => void logged.push({ ...fields, message });
  const logger: Logger = {
    ...silentLogger,
    warn: (fields, message) => {
      warnings.push(message);
      note(fields, message);
    },
    info: note,
  };
  const observer = {
    waiting: (events: number, bytes: number) => void waiting.push({ events, bytes }),
    dropped: (reason: string, events: number) => void dropped.push(`${reason} ${events}`),
  };
  const publisher = {
    async publish({ id, topic }: BusEvent) {
      if (bus.failsWith !== undefined) throw bus.failsWith;
      if (topic === 'audit' && bus.refusesAudit !== undefined) throw bus.refusesAudit;
      stored.push(id);
    },
  };
  const outbox = createOutbox({ publisher, clock, logger, observer }, limits);
  return { outbox, clock, stored, dropped, waiting, warnings, logged, bus };
}

describe('the outbox', () => {
  it('stores what is raised at once, in order', async () => {
    const { outbox, clock, stored } = setUp();
    for (const id of ['a', 'b', 'c']) outbox.raise(anEvent(id));
    await clock.advance(0);
    expect(stored).toEqual(['a', 'b', 'c']);
  });

  it('keeps everything in order while the bus is away, and stores it when it is back', async () => {
    const { outbox, clock, stored, bus } = setUp();
    bus.failsWith = unavailable;
    for (const id of ['a', 'b']) outbox.raise(anEvent(id));
    await clock.advance(3_600_000);
    outbox.raise(anEvent('c'));
    expect(stored).toEqual([]);
    bus.failsWith = undefined;
    await clock.advance(500);
    expect(stored).toEqual(['a', 'b', 'c']);
  });

  it('gathers what is raised behind a first event for 25 ms, so that many share a write', async () => {
    const { outbox, clock, stored } = setUp();
    outbox.raise(anEvent('first'));
    await clock.advance(0);
    for (const id of ['a', 'b']) outbox.raise(anEvent(id));
    await clock.advance(24);
    outbox.raise(anEvent('c'));
    expect(stored).toEqual(['first']);
    await clock.advance(1);
    expect(stored).toEqual(['first', 'a', 'b', 'c']);
  });

  it('continues behind an event that the bus refuses for good', async () => {
    const { outbox, clock, stored, dropped, bus } = setUp();
    bus.failsWith = tooLarge;
    outbox.raise(anEvent('large'));
    await clock.advance(0);
    bus.failsWith = undefined;
    outbox.raise(anEvent('small'));
    await clock.advance(25);
    expect([stored, dropped]).toEqual([['small'], ['refused 1']]);
  });

  it.each([
    [2, []],
    [3, []],
    [4, ['full 1']],
    [6, ['full 1', 'full 1', 'full 1']],
  ])('with room for 3 events drops of %i of as many tenants what comes last', async (raised, want) => {
    const { outbox, clock, stored, dropped, bus } = setUp({ events: 3, bytes: 1_000_000 });
    bus.failsWith = unavailable;
    for (let i = 0; i < raised; i += 1) outbox.raise(anEvent(`e${i}`, '', `t${i}`));
    expect(dropped).toEqual(want);
    bus.failsWith = undefined;
    await clock.advance(500);
    expect(stored).toEqual(['e0', 'e1', 'e2'].slice(0, raised));
  });

  it.each([
    ['one byte less than there is room for', -1, []],
    ['exactly what there is room for', 0, []],
    ['one byte more than there is room for', 1, ['full 1']],
  ])('of events of %s drops %j', (_what, more, want) => {
    const size = Buffer.byteLength(JSON.stringify(anEvent('1')));
    const { outbox, dropped, bus } = setUp({ events: 100, bytes: 2 * size + 10 });
    bus.failsWith = unavailable;
    outbox.raise(anEvent('1'));
    outbox.raise(anEvent('2', 'x'.repeat(10 + more), 'ajax'));
    expect(dropped).toEqual(want);
  });

  it.each([
    ['one less than', 79, []],
    ['exactly', 80, []],
    ['one more than', 81, ['full 1']],
  ])(
    'keeps room for other tenants beside one that raises %s four fifths of what may wait',
    async (_what, raised, want) => {
      const { outbox, clock, stored, dropped, bus } = setUp({ events: 100, bytes: 1_000_000 });
      bus.failsWith = unavailable;
      for (let i = 0; i < raised; i += 1) outbox.raise(anEvent(`m${i}`, '', 'mallory'));
      expect(dropped).toEqual(want);
      for (let i = 0; i < 10; i += 1) outbox.raise(anEvent(`a${i}`, '', 'ada'));
      expect(dropped).toEqual(want);
      bus.failsWith = undefined;
      await clock.advance(1_000);
      expect(stored.filter((id) => id.startsWith('a'))).toHaveLength(10);
      // Stored events no longer count.
      for (let i = 0; i < 80; i += 1) outbox.raise(anEvent(`n${i}`, '', 'mallory'));
      expect(dropped).toEqual(want);
    },
  );

  it('writes one line of log however many it drops, and another one in the next outage', async () => {
    const { outbox, clock, warnings, bus } = setUp({ events: 1, bytes: 1_000_000 });
    for (const round of [1, 2]) {
      bus.failsWith = unavailable;
      for (let i = 0; i < 5; i += 1) outbox.raise(anEvent(`${round}-${i}`));
      expect(warnings).toHaveLength(round);
      bus.failsWith = undefined;
      await clock.advance(500);
    }
    expect(new Set(warnings)).toEqual(new Set(['outbox full, dropping events']));
  });

  it('tells how much waits, down to nothing', async () => {
    const { outbox, clock, waiting } = setUp();
    outbox.raise(anEvent('a'));
    const bytes = Buffer.byteLength(JSON.stringify(anEvent('a')));
    expect(waiting).toEqual([{ events: 1, bytes }]);
    await clock.advance(0);
    expect(waiting.at(-1)).toEqual({ events: 0, bytes: 0 });
  });

  it('stores what waits before it closes', async () => {
    const { outbox, clock, stored, dropped, bus } = setUp();
    bus.failsWith = unavailable;
    outbox.raise(anEvent('a'));
    await clock.advance(100);
    bus.failsWith = undefined;
    const closed = outbox.close(5_000);
    await clock.advance(400);
    await closed;
    expect([stored, dropped]).toEqual([['a'], []]);
  });

  it('gives up after its grace, counts what is lost, and takes nothing more', async () => {
    const { outbox, clock, dropped, bus } = setUp();
    bus.failsWith = unavailable;
    outbox.raise(anEvent('a'));
    outbox.raise(anEvent('b'));
    const closed = outbox.close(1_000);
    await clock.advance(1_000);
    await closed;
    outbox.raise(anEvent('c'));
    expect(dropped).toEqual(['stopped 2', 'stopped 1']);
    expect(clock.sleepers).toBe(0);
  });

  describe('before a stream that takes nothing', () => {
    const noRoom = busError(new StreamRefusal(10_077, 'maximum bytes exceeded'));
    const audit = (id: string) => anEvent(id, '', 'acme', 'audit');

    it('stores the events of the other one, and those of the stream in order once it takes them', async () => {
      const { outbox, clock, stored, waiting, bus } = setUp();
      bus.refusesAudit = noRoom;
      for (let at = 0; at < 80; at += 1) outbox.raise(audit(`a${at}`));
      for (let at = 0; at < 20; at += 1) outbox.raise(anEvent(`e${at}`));
      await clock.advance(1_000);
      expect(stored).toEqual(Array.from({ length: 20 }, (_, at) => `e${at}`));
      expect(waiting.at(-1)?.events).toBe(80);
      bus.refusesAudit = undefined;
      await clock.advance(1_000);
      expect(stored.slice(20)).toEqual(Array.from({ length: 80 }, (_, at) => `a${at}`));
      expect(waiting.at(-1)).toEqual({ events: 0, bytes: 0 });
    });

    it('drops none of the other one, however many of the stream wait', () => {
      const { outbox, dropped, bus } = setUp({ events: 10, bytes: 1_000_000 });
      bus.failsWith = noRoom;
      for (let at = 0; at < 10; at += 1) outbox.raise(anEvent(`a${at}`, '', `t${at}`, 'audit'));
      for (let at = 0; at < 10; at += 1) outbox.raise(anEvent(`e${at}`, '', `t${at}`));
      expect(dropped).toEqual([]);
    });

    it('writes one line of log for each cause, with the stream, and one when it takes events again', async () => {
      const { outbox, clock, logged, bus } = setUp();
      bus.refusesAudit = noRoom;
      for (const id of ['a', 'b']) outbox.raise(audit(id));
      await clock.advance(5_000);
      bus.refusesAudit = busError(new Error('no answer within 1500 ms'));
      await clock.advance(5_000);
      bus.refusesAudit = undefined;
      await clock.advance(5_000);
      const stream = 'WINDLASS_AUDIT';
      const held = { stream, events: 2, message: 'event stream takes no events, they wait' };
      expect(logged).toEqual([
        { ...held, problem: 'maximum bytes exceeded' },
        { ...held, problem: 'no answer within 1500 ms' },
        { stream, message: 'event stream takes events again' },
      ]);
    });

    it('leaves the log of an outage of the whole bus to its connection', async () => {
      const { outbox, clock, logged, bus } = setUp();
      bus.failsWith = unavailable;
      outbox.raise(anEvent('a'));
      await clock.advance(5_000);
      expect(logged).toEqual([]);
    });
  });
});
