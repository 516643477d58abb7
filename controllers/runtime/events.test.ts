import { describe, expect, it } from 'vitest';
import type { Event } from '../../lib/kube/index.ts';
import { pods } from '../../lib/kube/index.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createEventRecorder, type RecordedEvent } from './events.ts';

function setUp(send: (event: Event) => Promise<unknown> = async () => undefined) {
  const clock = createManualClock(0);
  const sent: Event[] = [];
  let dropped = 0;
  let ids = 0;
  const client = {
    create: async (_: unknown, event: Event) => {
      sent.push(event);
      await send(event);
    },
  };
  const recorder = createEventRecorder(
    {
      client: client as never,
      clock,
      logger: silentLogger,
      newId: () => `id${(ids += 1)}`,
      onDropped: () => {
        dropped += 1;
      },
    },
    { controller: 'windlass.dev/controllers', instance: 'pod-a' },
  );
  return { recorder, clock, sent, dropped: () => dropped };
}

const happening = (rest: Partial<RecordedEvent> = {}): RecordedEvent => ({
  resource: pods,
  object: { metadata: { namespace: 'team-a', name: 'x', uid: 'u1', resourceVersion: '5' } },
  type: 'Normal',
  reason: 'StateEntered',
  action: 'Enter',
  note: 'Entered build.',
  ...rest,
});

describe('an event', () => {
  it('names the object, the reason and who reports', async () => {
    const { recorder, sent } = setUp();
    recorder.record(happening());
    await recorder.flush();
    expect(sent).toEqual([
      {
        metadata: { namespace: 'team-a', name: 'x.id1' },
        eventTime: '1970-01-01T00:00:00.000000Z',
        type: 'Normal',
        reason: 'StateEntered',
        action: 'Enter',
        note: 'Entered build.',
        regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'team-a', name: 'x', uid: 'u1', resourceVersion: '5' },
        reportingController: 'windlass.dev/controllers',
        reportingInstance: 'pod-a',
      },
    ]);
  });

  it.each([
    { length: 1_023, want: 1_023 },
    { length: 1_024, want: 1_024 },
    { length: 1_025, want: 1_024 },
  ])('a note of $length characters is sent with $want', async ({ length, want }) => {
    const { recorder, sent } = setUp();
    recorder.record(happening({ note: 'x'.repeat(length) }));
    await recorder.flush();
    expect(sent[0]?.note?.length).toBe(want);
  });
});

describe('too much of it', () => {
  it('the same is written once in ten minutes, something else at once', async () => {
    const { recorder, clock, sent } = setUp();
    for (let i = 0; i < 5; i++) recorder.record(happening());
    recorder.record(happening({ note: 'Entered test.' }));
    await clock.advance(599_999);
    recorder.record(happening());
    await recorder.flush();
    expect(sent).toHaveLength(2);
    await clock.advance(1);
    recorder.record(happening());
    await recorder.flush();
    expect(sent).toHaveLength(3);
  });

  it('the same is written again after ten minutes, also where the time of day was set back by an hour', async () => {
    const { recorder, clock, sent } = setUp();
    recorder.record(happening());
    clock.step(-3_600_000);
    await clock.advance(599_999);
    recorder.record(happening());
    await recorder.flush();
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    recorder.record(happening());
    await recorder.flush();
    expect(sent.map(({ eventTime }) => eventTime)).toEqual([
      '1970-01-01T00:00:00.000000Z',
      new Date(600_000 - 3_600_000).toISOString().replace('.000Z', '.000000Z'),
    ]);
  });

  it.each([-3_600_000, 3_600_000])(
    'one object has the next after half a minute, also where the time of day was set by %i ms',
    async (stepMs) => {
      const { recorder, clock, sent } = setUp();
      for (let i = 0; i < 25; i++) recorder.record(happening({ note: `n${i}` }));
      clock.step(stepMs);
      await clock.advance(29_999);
      recorder.record(happening({ note: 'early' }));
      await recorder.flush();
      expect(sent).toHaveLength(25);
      await clock.advance(1);
      recorder.record(happening({ note: 'due' }));
      await recorder.flush();
      expect(sent).toHaveLength(26);
    },
  );

  it('one object has 25 and then one each half minute, which takes nothing from another object', async () => {
    const { recorder, clock, sent, dropped } = setUp();
    for (let i = 0; i < 26; i++) recorder.record(happening({ note: `n${i}` }));
    recorder.record(happening({ object: { metadata: { namespace: 'team-a', name: 'y', uid: 'u2' } } }));
    await recorder.flush();
    expect([sent.length, dropped()]).toEqual([26, 1]);
    await clock.advance(30_000);
    for (let i = 0; i < 2; i++) recorder.record(happening({ note: `m${i}` }));
    await recorder.flush();
    expect([sent.length, dropped()]).toEqual([27, 2]);
  });

  it('one namespace has 2,000 Events and then five a second, however many objects it has, and takes none from another', async () => {
    const { recorder, clock, sent, dropped } = setUp();
    let made = 0;
    const failing = async (count: number, namespace = 'many'): Promise<void> => {
      for (let i = 0; i < count; i += 1) {
        made += 1;
        recorder.record(happening({ object: { metadata: { namespace, name: 'x', uid: `u${made}` } } }));
        if (i % 500 === 499) await recorder.flush();
      }
      await recorder.flush();
    };
    await failing(2_500);
    expect([sent.length, dropped()]).toEqual([2_000, 500]);
    await failing(3, 'other');
    expect([sent.length, dropped()]).toEqual([2_003, 500]);
    await clock.advance(1_000);
    await failing(7);
    expect([sent.length, dropped()]).toEqual([2_008, 502]);
  });

  it('at most a thousand of one namespace wait, and there is room for another one', async () => {
    const { recorder, dropped } = setUp(() => new Promise<void>(() => undefined));
    for (let i = 0; i < 1_002; i++) {
      recorder.record(happening({ object: { metadata: { namespace: 'a', name: 'x', uid: `u${i}` } } }));
    }
    expect(dropped()).toBe(2);
    recorder.record(happening({ object: { metadata: { namespace: 'b', name: 'x', uid: 'v' } } }));
    expect(dropped()).toBe(2);
  });

  it('of one namespace that is never answered delays no other namespace', async () => {
    const { recorder, sent } = setUp(({ metadata }) =>
      metadata.namespace === 'hangs' ? new Promise<void>(() => undefined) : Promise.resolve(),
    );
    for (let i = 0; i < 20; i++) {
      recorder.record(happening({ object: { metadata: { namespace: 'hangs', name: 'x', uid: `h${i}` } } }));
    }
    recorder.record(happening());
    await expect.poll(() => sent.map(({ metadata }) => metadata.namespace)).toContain('team-a');
  });
});

it('a server that refuses or keeps silent never shows: record returns, flush ends after five seconds', async () => {
  const refusing = setUp(async () => {
    throw new Error('403');
  });
  refusing.recorder.record(happening());
  await refusing.recorder.flush();
  expect(refusing.dropped()).toBe(1);

  const silent = setUp(() => new Promise(() => undefined));
  silent.recorder.record(happening());
  let flushed = false;
  const flushing = silent.recorder.flush().then(() => {
    flushed = true;
  });
  await silent.clock.advance(4_999);
  expect(flushed).toBe(false);
  await silent.clock.advance(1);
  await flushing;
});
