import { describe, expect, it } from 'vitest';
import type { Event, ListOptions, Pod } from '../../lib/kube/index.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createPodNotes, newest } from './pod-notes.ts';

const claim = { name: 'claim-0', persistentVolumeClaim: { claimName: 'data' } };
const aPod = (uid: string, namespace = 'team-a', volumes: object[] = []): Pod =>
  ({ metadata: { name: 'p', namespace, uid }, spec: { containers: [], volumes } }) as unknown as Pod;
const pod = aPod('u1', 'team-a', [{ name: 'workdir', emptyDir: {} }, claim]);
const anEvent = (type: string, reason: string, note: string, eventTime: string): Event =>
  ({ metadata: {}, type, reason, note, eventTime }) as Event;
const pulling = anEvent('Normal', 'Pulling', 'Pulling image "x"', '2026-01-02T03:04:05Z');
const mount = anEvent('Warning', 'FailedMount', 'no such share', '2026-01-02T03:04:04Z');

function setUp(answers: (Event[] | Error)[]) {
  const clock = createManualClock();
  const asked: unknown[] = [];
  const bounds: unknown[] = [];
  const news: string[] = [];
  const stop = new AbortController();
  const kube = {
    list: async (_: unknown, { fieldSelector, limit, answerBytes }: ListOptions = {}) => {
      asked.push(fieldSelector);
      bounds.push({ limit, answerBytes });
      const answer = fieldSelector?.endsWith('=kubelet') ? (answers.shift() ?? []) : [];
      if (answer instanceof Error) throw answer;
      return { items: answer };
    },
  };
  const onNews = ({ metadata }: Pod): void => void news.push(metadata.uid ?? '');
  const notes = createPodNotes({ kube: kube as never, clock, logger: silentLogger, onNews, signal: stop.signal });
  return { notes, clock, asked, bounds, news };
}

describe('what Events say of a pod that waits', () => {
  it('is asked a second after the pod was first seen to wait, and reported when it is new', async () => {
    const { notes, clock, asked, news } = setUp([[pulling], [pulling, mount]]);
    expect(notes.noteOf(pod)).toBeUndefined();
    notes.follow(pod);
    await clock.advance(999);
    expect(asked).toEqual([]);
    await clock.advance(1);
    expect(asked).toEqual([
      'regarding.uid=u1,reportingController=kubelet',
      'regarding.uid=u1,reportingController=attachdetach-controller',
    ]);
    expect(notes.noteOf(pod)).toBe('Pulling: Pulling image "x"');
    await clock.advance(2_000);
    expect(notes.noteOf(pod)).toBe('FailedMount: no such share');
    expect(news).toEqual(['u1', 'u1']);
  });

  it('is not asked for by observing the pod', async () => {
    const { notes, clock, asked } = setUp([]);
    expect(notes.noteOf(pod)).toBeUndefined();
    await clock.advance(60_000);
    expect({ asked, sleepers: clock.sleepers }).toEqual({ asked: [], sleepers: 0 });
  });

  it('is asked no more for a pod that begins, and one that begins within a second costs nothing', async () => {
    const { notes, clock, asked } = setUp([]);
    notes.follow(pod);
    await clock.advance(500);
    notes.forget('u1');
    await clock.advance(60_000);
    expect({ asked, sleepers: clock.sleepers }).toEqual({ asked: [], sleepers: 0 });
  });

  it('may be forbidden to us: then there is none', async () => {
    const { notes, clock, news } = setUp([new Error('forbidden'), [mount]]);
    notes.follow(pod);
    await clock.advance(1_000);
    expect(news).toEqual([]);
    await clock.advance(2_000);
    expect(notes.noteOf(pod)).toBe('FailedMount: no such share');
  });

  it('is read of ten Events of each reporter in 256 KiB at most', async () => {
    const { notes, clock, bounds } = setUp([[mount]]);
    notes.follow(pod);
    await clock.advance(1_000);
    expect(bounds).toEqual(Array(2).fill({ limit: 10, answerBytes: 262_144 }));
  });

  it.each([
    { characters: 1_023, kept: 1_023 },
    { characters: 1_024, kept: 1_024 },
    { characters: 1_025, kept: 1_024 },
  ])('of $characters characters is kept as $kept', ({ characters, kept }) => {
    const note = 'x'.repeat(characters - 'Failed: '.length);
    expect(newest([anEvent('Warning', 'Failed', note, '2026-01-02T03:04:04Z')])).toHaveLength(kept);
  });

  it('is the newest trouble, else the newest word', () => {
    expect(newest([mount, pulling])).toBe('FailedMount: no such share');
    expect(newest([pulling])).toBe('Pulling: Pulling image "x"');
    expect(newest([])).toBeUndefined();
  });

  it.each(['Scheduled', 'Pulled', 'Created', 'Started'])('is not %s, which the next word follows at once', (reason) => {
    const passing = anEvent('Normal', reason, 'x', '2026-01-02T03:04:06Z');
    expect(newest([passing])).toBeUndefined();
    expect(newest([pulling, passing])).toBeUndefined();
    expect(newest([passing, mount])).toBe('FailedMount: no such share');
  });

  it.each([
    { volume: claim, reporters: 2 },
    { volume: { name: 'v', csi: { driver: 'd' } }, reporters: 2 },
    ...['emptyDir', 'image', 'secret', 'configMap', 'projected', 'downwardAPI'].map((kind) => ({
      volume: { name: 'v', [kind]: {} },
      reporters: 1,
    })),
  ])('is asked of what attaches volumes only where one is attached: $volume', async ({ volume, reporters }) => {
    const { notes, clock, asked } = setUp([]);
    notes.follow(aPod('u2', 'team-a', [volume]));
    await clock.advance(1_000);
    expect(asked).toHaveLength(reporters);
  });

  it('is asked of each of 300 pods of one namespace within its queue_timeout', async () => {
    const { notes, clock, asked } = setUp([]);
    for (let i = 0; i < 300; i++) notes.follow(aPod(`a${i}`));
    for (let second = 0; second < 400; second++) await clock.advance(1_000);
    expect(new Set(asked).size).toBe(300);
  });

  it('is asked once a second of the pods of one namespace, however many wait, and of another at once', async () => {
    const { notes, clock, asked } = setUp([]);
    for (let i = 0; i < 100; i++) notes.follow(aPod(`a${i}`));
    await clock.advance(1_000);
    expect(asked).toHaveLength(8);
    await clock.advance(500);
    notes.follow(aPod('b1', 'team-b'));
    await clock.advance(1_000);
    expect(asked.at(-1)).toContain('regarding.uid=b1,');
    for (let second = 0; second < 60; second++) await clock.advance(1_000);
    expect(asked.length).toBeGreaterThan(60);
    expect(asked.length).toBeLessThanOrEqual(8 * 9);
    expect(new Set(asked.filter((selector) => String(selector).includes('=a'))).size).toBeGreaterThan(60);
  });
});
