import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { addressOf, createDriverLooks, silentLooks } from './driver-address.ts';

type Look = 'silent' | 'here' | 'left';
type Found = Awaited<ReturnType<ReturnType<typeof createDriverLooks>['look']>>;

describe('a driver of a conversation, as other replicas see it', () => {
  let nats: TestBus;
  beforeAll(async () => void (nats = await startTestBus()), 60_000);
  afterAll(() => nats.stop());

  /** The looks at a driver that answers one after the other so. */
  async function foundBy(id: string, looks: readonly Look[]): Promise<Found[]> {
    const [asking, driving] = [await nats.connected(), await nats.connected()];
    const left = [...looks];
    const responder = driving.serve(addressOf(id), async () => {
      const look = left.shift();
      return look === undefined || look === 'silent' ? new Promise<string>(() => undefined) : look;
    });
    await responder.ready;
    // A look waits a fifth of its time: how many looks have no answer counts.
    const request: typeof asking.request = (to, body, options) =>
      asking.request(to, body, { ...options, timeoutMs: options.timeoutMs / 5 });
    const { look } = createDriverLooks({ bus: { request }, clock: systemClock });
    const found: Found[] = [];
    for (const _ of looks) found.push(await look(id));
    await responder.close(0);
    return found;
  }

  const silence = Array<Look>(silentLooks).fill('silent');
  const unknown = silence.slice(1).map((): Found => 'unknown');
  it.concurrent.each<readonly [title: string, looks: readonly Look[], want: readonly Found[]]>([
    ['drives where it answers', ['here', 'here'], ['drives', 'drives']],
    ['drives no more where it has left', ['left'], ['left']],
    [
      'is gone behind so many looks without an answer, and is back with an answer',
      [...silence, 'silent', 'here'],
      [...unknown, 'left', 'left', 'drives'],
    ],
    [
      'is not gone where it has answered in between',
      [...silence.slice(1), 'here', ...silence.slice(1)],
      [...unknown, 'drives', ...unknown],
    ],
  ])('%s', { timeout: 60_000 }, async (title, looks, want) => {
    expect(await foundBy(title.replaceAll(' ', '-'), looks)).toEqual(want);
  });

  it.each([
    [15_000, 'left'],
    [15_001, 'unknown'],
  ])('is silent now and then where its looks are %i ms apart: it is %s', async (apart, want) => {
    let now = 0;
    const request = () => Promise.reject(new AppError('unavailable', 'silent', { reason: 'RequestTimeout' }));
    const { look } = createDriverLooks({ bus: { request }, clock: { steadyMs: () => now } });
    const found: Found[] = [];
    for (let turn = 0; turn < silentLooks; turn += 1, now += apart) found.push(await look('slow'));
    expect(found.at(-1)).toBe(want);
  });

  it('is not heard where no process serves it', async () => {
    const { look } = createDriverLooks({ bus: await nats.connected(), clock: systemClock });
    expect(await look('unserved')).toBe('unserved');
  });

  it('is not known while the bus is away, however often it is looked at', async () => {
    const own = await startTestBus();
    const { look } = createDriverLooks({ bus: await own.connected(), clock: systemClock });
    await own.server.kill();
    const looks: Found[] = [];
    for (let turn = 0; turn <= silentLooks; turn += 1) looks.push(await look('away'));
    expect(looks).toEqual(looks.map(() => 'unknown'));
    await own.stop();
  });
});
