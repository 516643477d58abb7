import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { AppError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { BusEvent } from '../event-bus.ts';
import { createOutbox, type OutboxLimits } from './outbox.ts';

const unavailable = new AppError('unavailable', 'away');
const tooLarge = new AppError('limit_exceeded', 'too large');

function anEvent(id: string, text = '', tenant = 'acme'): BusEvent {
  const fixed = { topic: 'volume', source: 'controllers', type: 'VolumeExpired', subject: 'v' };
  return { id, ...fixed, tenant, time: '2026-01-01T00:00:00Z', data: { text } };
}

/** An outbox before a bus that can be taken away. */
function setUp(limits?: OutboxLimits) {
  const clock = createManualClock();
  const stored: string[] = [];
  const dropped: string[] = [];
  const waiting: { events: number; bytes: number }[] = [];
  const warnings: string[] = [];
  const bus = { failsWith: undefined as Error | undefined };
  const logger: Logger = { ...silentLogger, warn: (_fields, message) => void warnings.push(message) };
  const observer = {
    waiting: (events: number, bytes: number) => void waiting.push({ events, bytes }),
    dropped: (reason: string, events: number) => void dropped.push(`${reason} ${events}`),
  };
  const publisher = {
    async publish({ id }: BusEvent) {
      if (bus.failsWith !== undefined) throw bus.failsWith;
      stored.push(id);
    },
  };
  const outbox = createOutbox({ publisher, clock, logger, observer }, limits);
  return { outbox, clock, stored, dropped, waiting, warnings, bus };
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
});
