import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createCallsUnderWay, createRevocations, createSessions, sessionKey } from '../../lib/envelope/index.ts';
import { newId } from '../../lib/ids.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createDeletions, withDeletions } from './deletions.ts';

let nats: TestBus;
const stop = new AbortController();
beforeAll(async () => void (nats = await startTestBus()));
afterAll(async () => {
  stop.abort();
  await nats.stop();
});

const clock = systemClock;

/** A replica, with the uids of its caches. */
async function replica() {
  const bus = await nats.connected();
  const known = new Set(['workflow', 'other']);
  const isKnown = vi.fn<(uid: string) => boolean>((uid) => known.has(uid));
  const calls = withDeletions({ calls: createCallsUnderWay(clock), clock, isKnown });
  const sessions = createSessions(bus);
  const revocations = createRevocations({ bus, clock, logger: silentLogger, newId, sessions, calls });
  void revocations.run(stop.signal);
  await revocations.open(stop.signal);
  return { known, isKnown, deletions: createDeletions(revocations) };
}

describe('the deletion of an object', () => {
  it('GW-WF-29 is over when the caches of all replicas have let go of it, and not before', async () => {
    const [one, two] = [await replica(), await replica()];
    let isOver = false;
    one.known.delete('workflow');
    const deleted = one.deletions.settled('workflow').then(() => (isOver = true));
    await vi.waitFor(() => expect(two.isKnown.mock.calls.length).toBeGreaterThan(3), { timeout: 10_000 });
    expect([isOver, one.isKnown.mock.calls.length > 0]).toEqual([false, true]);
    two.known.delete('workflow');
    await deleted;
    expect(isOver).toBe(true);
  });

  it('is done, and its answer says what is not, where a replica does not answer', async () => {
    const { settled } = createDeletions({ settled: () => Promise.reject(new Error('no answer')) });
    await expect(settled('workflow')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^it is deleted; /),
    });
  });
});

describe('a replica that is asked', () => {
  it('gives no answer while its watch is late, and asks its list of calls for a session', async () => {
    const manual = createManualClock();
    const drained = vi.fn<() => Promise<void>>(async () => undefined);
    const calls = withDeletions({ calls: { drained }, clock: manual, isKnown: () => true });
    const answer = calls.drained('object workflow', 8_000);
    const refused = expect(answer).rejects.toMatchObject({ code: 'timeout' });
    for (let turn = 0; turn <= 800; turn += 1) await manual.advance(10);
    await refused;
    expect(drained).not.toHaveBeenCalled();
    const session = sessionKey({ tenant: 'acme', execution_id: 'e' });
    await calls.drained(session, 8_000);
    expect(drained).toHaveBeenCalledWith(session, 8_000);
  });
});
