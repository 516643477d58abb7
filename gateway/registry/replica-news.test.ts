import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createCallsUnderWay, createRevocations, createSealSessions, sessionKey } from '../../lib/envelope/index.ts';
import { newId } from '../../lib/ids.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createReplicaNews, withNews } from './replica-news.ts';

let nats: TestBus;
let stop: AbortController;
const open: { close(): Promise<void> }[] = [];
beforeAll(async () => void (nats = await startTestBus()));
beforeEach(() => void (stop = new AbortController()));
// A replica that still answers would hold up those of the next test.
afterEach(async () => {
  stop.abort();
  await Promise.all(open.splice(0).map((one) => one.close()));
});
afterAll(() => nats.stop());

const clock = systemClock;

/** A replica, with the uids of its caches. */
async function replica({ hasSynced = () => true, madeIn = clock }: { hasSynced?: () => boolean; madeIn?: Clock } = {}) {
  const bus = await nats.connected();
  const known = new Map([
    ['workflow', 1],
    ['other', 1],
  ]);
  const generationOf = vi.fn<(uid: string) => number | undefined>((uid) => known.get(uid));
  const calls = withNews({ calls: createCallsUnderWay(clock), clock, generationOf, hasSynced });
  const sessions = createSealSessions(bus);
  const revocations = createRevocations({ bus, clock, logger: silentLogger, newId, sessions, calls });
  open.push(revocations);
  void revocations.run(stop.signal);
  await revocations.open(stop.signal);
  return { known, generationOf, news: createReplicaNews(revocations, madeIn) };
}

describe('the deletion of an object', () => {
  it('GW-WF-29 is over when the caches of all replicas have let go of it, and not before', async () => {
    const [one, two] = [await replica(), await replica()];
    let isOver = false;
    one.known.delete('workflow');
    const deleted = one.news.gone('workflow').then(() => (isOver = true));
    await vi.waitFor(() => expect(two.generationOf.mock.calls.length).toBeGreaterThan(3), { timeout: 10_000 });
    expect([isOver, one.generationOf.mock.calls.length > 0]).toEqual([false, true]);
    two.known.delete('workflow');
    await deleted;
    expect(isOver).toBe(true);
  });

  it('is done, and its answer says what is not, where a replica does not answer', async () => {
    const settled = () => Promise.reject(new Error('no answer'));
    await expect(createReplicaNews({ settled }, clock).gone('workflow')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^it is deleted; /),
    });
  });
});

describe('the change of an object', () => {
  it('GW-OP-23 is over when the caches of all replicas have this generation or a later one, and not before', async () => {
    const [one, two] = [await replica(), await replica()];
    const object = { metadata: { uid: 'workflow', generation: 3 } };
    let isOver = false;
    one.known.set('workflow', 3);
    two.known.set('workflow', 2);
    const written = one.news.written(object).then(() => (isOver = true));
    await vi.waitFor(() => expect(two.generationOf.mock.calls.length).toBeGreaterThan(3), { timeout: 10_000 });
    expect(isOver).toBe(false);
    two.known.set('workflow', 3);
    await written;
    for (const known of [one.known, two.known]) known.set('workflow', 4);
    await one.news.written(object);
  });

  it('is done, and its answer says what is not, where a replica does not answer', async () => {
    const settled = () => Promise.reject(new Error('no answer'));
    await expect(createReplicaNews({ settled }, clock).written({ metadata: { uid: 'a' } })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^it is written; /),
    });
  });
});

describe('the registration of an object', () => {
  it('GW-OP-16 is over when the caches of all replicas have it, and not before', async () => {
    // Its time limit never comes.
    const [one, two] = [await replica({ madeIn: createManualClock() }), await replica()];
    let isOver = false;
    one.known.set('new', 1);
    const made = one.news.made('new').then(() => (isOver = true));
    await vi.waitFor(() => expect(two.generationOf.mock.calls.length).toBeGreaterThan(3), { timeout: 10_000 });
    expect(isOver).toBe(false);
    two.known.set('new', 1);
    await made;
    expect(isOver).toBe(true);
  });

  it('is over after some seconds where a replica does not answer', async () => {
    const manual = createManualClock();
    let isOver = false;
    const { promise: never } = Promise.withResolvers<void>();
    const made = createReplicaNews({ settled: () => never }, manual)
      .made('new')
      .then(() => (isOver = true));
    await manual.advance(4_999);
    expect(isOver).toBe(false);
    await manual.advance(1);
    await made;
    await createReplicaNews({ settled: () => Promise.reject(new Error('away')) }, manual).made('new');
  });
});

describe('a replica that is asked', () => {
  it('gives no answer while its watch is late, and asks its list of calls for a session', async () => {
    const manual = createManualClock();
    const drained = vi.fn<() => Promise<void>>(async () => undefined);
    const calls = withNews({ calls: { drained }, clock: manual, generationOf: () => 1, hasSynced: () => true });
    const answer = calls.drained('gone workflow', 8_000).catch((error: unknown) => error);
    for (let turn = 0; turn <= 800; turn += 1) await manual.advance(10);
    expect(await answer).toMatchObject({ code: 'timeout' });
    expect(drained).not.toHaveBeenCalled();
    const session = sessionKey({ tenant: 'acme', execution_id: 'e' });
    await calls.drained(session, 8_000);
    expect(drained).toHaveBeenCalledWith(session, 8_000);
  });

  it.each([
    ['gone', false],
    ['made', true],
    ['written', false],
  ])('whose caches are not filled yet answers at once that an object is %s: %s', async (news, isAtOnce) => {
    const manual = createManualClock();
    let hasSynced = false;
    let isOver = false;
    const drained = async () => undefined;
    const generationOf = () => (news === 'written' ? 2 : undefined);
    const calls = withNews({ calls: { drained }, clock: manual, generationOf, hasSynced: () => hasSynced });
    const answer = calls.drained(`${news} workflow 2`, 8_000).then(() => (isOver = true));
    await manual.advance(50);
    expect(isOver).toBe(isAtOnce);
    hasSynced = true;
    await manual.advance(10);
    await answer;
  });
});
