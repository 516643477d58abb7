import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAbsentBus } from '../../../lib/bus/absent-bus.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createSealSessions } from '../../../lib/envelope/index.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { createSignedAdmission } from './signed-admission.ts';

let nats: TestBus;
beforeAll(async () => void (nats = await startTestBus()));
afterAll(() => nats.stop());

const admissionOver = (bus: EventBus) =>
  createSignedAdmission({
    bus,
    clock: systemClock,
    logger: silentLogger,
    newId: () => 'api-',
    sessions: createSealSessions(bus),
  });
const { signal: never } = new AbortController();

describe('the list of signed calls at the API', () => {
  it('GW-SESS-10 is open while the replica has its lease, by which revocations find it', async () => {
    const bus = await nats.connected();
    const lease = () => bus.bucket({ name: 'seal_replicas', ttlMs: 10_000, isWatched: true }).get('api-api-');
    const admission = admissionOver(bus);
    expect(() => admission.enter('e-1', never)).toThrow(expect.objectContaining({ code: 'unavailable' }));
    const stop = new AbortController();
    const running = admission.run(stop.signal);
    await admission.opened;
    expect((await lease())?.value).toMatchObject({ replica: 'api-api-' });
    admission.enter('e-1', never)[Symbol.dispose]();
    stop.abort();
    await running;
    await admission.close();
    expect(await lease()).toBeUndefined();
  });

  it('ends before NATS is there, where the process stops', async () => {
    const admission = admissionOver(nats.connect({ WINDLASS_NATS_URL: 'nats://127.0.0.1:9' }));
    const stop = new AbortController();
    const running = admission.run(stop.signal);
    stop.abort();
    await running;
    expect(() => admission.enter('e-1', never)).toThrow(expect.objectContaining({ code: 'unavailable' }));
    await admission.close();
  });

  it('AMB-182 is open at once where no NATS is configured, as this replica is the only one', async () => {
    const admission = admissionOver(createAbsentBus(systemClock));
    await admission.run(never);
    await admission.opened;
    using call = admission.enter('e-1', never);
    expect(call.signal.aborted).toBe(false);
    await admission.close();
  });
});
