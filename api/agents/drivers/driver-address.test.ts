import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { addressOf, createDriverLooks, silentLooks } from './driver-address.ts';

type Look = 'silent' | 'here' | 'left';

const isServedBy =
  ({ look }: ReturnType<typeof createDriverLooks>) =>
  async (id: string): Promise<boolean> =>
    (await look(id)) === 'drives';

describe('a driver of a conversation, as other replicas see it', () => {
  let nats: TestBus;
  beforeAll(async () => void (nats = await startTestBus()), 60_000);
  afterAll(() => nats.stop());

  /** Whether a driver that answers one look after the other so is taken for one that drives. */
  async function served(id: string, looks: readonly Look[]): Promise<boolean[]> {
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
    const isServed = isServedBy(createDriverLooks({ bus: { request }, clock: systemClock }));
    const found: boolean[] = [];
    for (const _ of looks) found.push(await isServed(id));
    await responder.close(0);
    return found;
  }

  const silence = Array<Look>(silentLooks).fill('silent');
  it.concurrent.each<readonly [title: string, looks: readonly Look[], want: readonly boolean[]]>([
    ['drives where it answers', ['here', 'here'], [true, true]],
    ['drives no more where it has left', ['left'], [false]],
    [
      'is gone behind so many looks without an answer, and is back with an answer',
      [...silence, 'silent', 'here'],
      [...silence.slice(1).map(() => true), false, false, true],
    ],
    [
      'is not gone where it has answered in between',
      [...silence.slice(1), 'here', ...silence.slice(1)],
      Array<boolean>(2 * silentLooks - 1).fill(true),
    ],
  ])('%s', { timeout: 60_000 }, async (title, looks, want) => {
    expect(await served(title.replaceAll(' ', '-'), looks)).toEqual(want);
  });

  it.each([
    [15_000, false],
    [15_001, true],
  ])('is silent now and then where its looks are %i ms apart: it drives is %s', async (apart, drives) => {
    let now = 0;
    const request = () => Promise.reject(new AppError('unavailable', 'silent', { reason: 'RequestTimeout' }));
    const isServed = isServedBy(createDriverLooks({ bus: { request }, clock: { steadyMs: () => now } }));
    const found: boolean[] = [];
    for (let look = 0; look < silentLooks; look += 1, now += apart) found.push(await isServed('slow'));
    expect(found.at(-1)).toBe(drives);
  });

  it('is not heard where no process serves it', async () => {
    const { look } = createDriverLooks({ bus: await nats.connected(), clock: systemClock });
    expect(await look('unserved')).toBe('unserved');
  });

  it('is taken to drive while the bus is away, however often it is looked at', async () => {
    const own = await startTestBus();
    const isServed = isServedBy(createDriverLooks({ bus: await own.connected(), clock: systemClock }));
    await own.server.kill();
    const looks: boolean[] = [];
    for (let look = 0; look <= silentLooks; look += 1) looks.push(await isServed('away'));
    expect(looks).toEqual(looks.map(() => true));
    await own.stop();
  });
});
