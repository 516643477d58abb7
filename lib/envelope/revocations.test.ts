import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aborted } from '../aborted.ts';
import type { EventBus } from '../bus/index.ts';
import { type Clock, systemClock } from '../clock.ts';
import { newId } from '../ids.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { createManualClock, type ManualClock } from '../../test/support/manual-clock.ts';
import { sealSession } from '../../test/support/seal-session.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createCallsUnderWay } from './calls-under-way.ts';
import { createRevocations } from './revocations.ts';
import { createSealSessions, type SealSession, sessionKey } from './sessions.ts';

let nats: TestBus;
beforeAll(async () => void (nats = await startTestBus()));
afterAll(() => nats.stop());

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

type Bus = Pick<EventBus, 'bucket' | 'watch' | 'serve' | 'requestAll'>;

/** Keeps the watch of a replica from showing anything while it is shut. */
class Gate {
  #opening = Promise.withResolvers<void>();

  constructor(isOpen = true) {
    if (isOpen) this.open();
  }

  open(): void {
    this.#opening.resolve();
  }

  shut(): void {
    this.#opening = Promise.withResolvers();
  }

  async passed(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#opening.promise, aborted(signal)]);
  }
}

/** A replica whose leases and patience go by this clock. */
async function startReplica(clock: Clock, gate = new Gate()) {
  const real = await nats.connected();
  const bus: Bus = {
    bucket: (definition) => real.bucket(definition),
    serve: (...args) => real.serve(...args),
    // The bus waits by its own clock.
    requestAll: (address, body, options) => real.requestAll(address, body, { ...options, timeoutMs: 500 }),
    async *watch<T>(...[definition, signal]: Parameters<EventBus['watch']>) {
      for await (const change of real.watch<T>(definition, signal)) {
        await gate.passed(signal);
        yield change;
      }
    },
  };
  const stop = new AbortController();
  const sessions = createSealSessions(real);
  const calls = createCallsUnderWay(clock);
  const revocations = createRevocations({ bus, clock, logger: silentLogger, newId, sessions, calls });
  const running = revocations.run(stop.signal);
  await revocations.open(stop.signal);
  open.push(async () => {
    stop.abort();
    await running;
    await revocations.close();
  });
  return { revocations, calls, sessions };
}

type Replica = Awaited<ReturnType<typeof startReplica>>;

async function aSession({ sessions }: Pick<Replica, 'sessions'>, id: string): Promise<SealSession> {
  const session = { ...sealSession(), execution_id: id };
  await sessions.create(session);
  return session;
}

/** Lets time pass until the work is done, `stepMs` in each 20 ms. */
async function driven<T>(clock: ManualClock, work: Promise<T>, stepMs = 50): Promise<T> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  while (!isDone) {
    await clock.advance(stepMs);
    await systemClock.sleep(20);
  }
  return done;
}

/** A session with a call under way at the replica; what happens is written down in its order. */
async function callAt(replica: Replica, id: string) {
  const session = await aSession(replica, id);
  const call = replica.calls.enter(sessionKey(session), new AbortController().signal);
  const order: string[] = [];
  const end = (): void => {
    order.push('the call ended');
    call[Symbol.dispose]();
  };
  const revoked = (revoking: Promise<boolean>): Promise<void> =>
    revoking.then(
      () => void order.push('revoked'),
      (error: unknown) => void order.push(String((error as { readonly reason?: string }).reason)),
    );
  return { session, order, end, revoked };
}

describe('a revocation', () => {
  it('waits for the call of a replica that it has not heard of yet', async () => {
    const other = await startReplica(systemClock);
    const gate = new Gate(false);
    const one = await startReplica(systemClock, gate);
    const { session, order, end, revoked } = await callAt(other, 'unheard');
    const done = revoked(one.revocations.revoke(session));
    // A revocation of the other replica ends while that of the first one waits: that has had its time.
    await other.revocations.revoke(await aSession(one, 'probe'));
    gate.open();
    await expect.poll(async () => (await one.sessions.find(session))?.revoked).toBe(true);
    end();
    await done;
    expect(order).toEqual(['the call ended', 'revoked']);
  });

  it('says CallsUnderWay where it does not learn which replicas there are', async () => {
    const clock = createManualClock();
    const one = await startReplica(clock, new Gate(false));
    const session = await aSession(one, 'blind');
    const refused = one.revocations.revoke(session).catch((error: unknown) => error);
    await expect.poll(async () => (await one.sessions.find(session))?.revoked).toBe(true);
    await expect.poll(() => clock.sleepers).toBeGreaterThan(1);
    await clock.advance(25_000);
    expect(await refused).toMatchObject({ reason: 'CallsUnderWay' });
  });

  it('waits for a call that ran through an outage of the bus, longer than any lease', async () => {
    const clock = createManualClock();
    const gate = new Gate();
    const [other, one] = [await startReplica(clock), await startReplica(clock, gate)];
    const { session, order, end, revoked } = await callAt(other, 'outage');
    // The first replica knows of the other one by now.
    await driven(clock, one.revocations.revoke(await aSession(one, 'before')));
    const probe = await aSession(one, 'after');
    gate.shut();
    await nats.server.kill();
    await clock.advance(60_000);
    await nats.server.start();
    await expect.poll(() => one.sessions.find(session).catch(() => undefined), { timeout: 20_000 }).toBeDefined();
    const done = revoked(one.revocations.revoke(session));
    // A revocation of the other replica ends while that of the first one waits: that has had its time.
    await driven(clock, other.revocations.revoke(probe));
    gate.open();
    await expect.poll(async () => (await one.sessions.find(session))?.revoked).toBe(true);
    end();
    await driven(clock, done);
    expect(order).toEqual(['the call ended', 'revoked']);
  });

  it('does not wait for a replica that is gone', async () => {
    const clock = createManualClock();
    const one = await startReplica(clock);
    const gone = { replica: 'gone', turn: 1 };
    const real = await nats.connected();
    await real.bucket({ name: 'seal_replicas', ttlMs: 10_000, isWatched: true } as never).create('gone', gone, 'gone');
    const session = await aSession(one, 'alone');
    expect(await driven(clock, one.revocations.revoke(session), 500)).toBe(true);
  });
});
