import { describe, expect, it, vi } from 'vitest';
import type { AgentWait } from '../../../crds/schema/agent-execution.ts';
import { AppError } from '../../../lib/errors.ts';
import type { ModelReply } from '../../../lib/models/models.ts';
import { executionOf, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { hurriedClock } from '../../../test/support/faster-clock.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import type { DriverLooks } from './driver-address.ts';
import { createNoteLooks, createWaitNotes, waitingForProvider, waitingForRoom, waitNoteLimits } from './wait-notes.ts';

const { settleMs, passMs, ofPass } = waitNoteLimits;

/** Notes of one replica over executions that count the writes to them. */
function world(look: DriverLooks['look'] = async () => 'unserved') {
  const clock = createManualClock();
  const shared = new SharedExecutions();
  const writes: string[] = [];
  const mergePatch = async (_resource: unknown, { name }: { readonly name: string }, patch: object) => {
    writes.push(name);
    return shared.merge(name, patch) as never;
  };
  const deps = { clock, logger: silentLogger, kube: { mergePatch }, looks: { look }, executions: shared.informer };
  const notes = createWaitNotes(deps);
  const stop = new AbortController();
  const running = notes.run(stop.signal);
  const open = (uid: string, namespace = 'acme') => {
    shared.put(executionOf(uid, { namespace }));
    return notes.open(uid);
  };
  const waitOf = (uid: string): AgentWait | undefined => shared.objects.get(uid)?.spec.wait;
  const end = () => (stop.abort(), running);
  return { clock, shared, notes, writes, open, waitOf, end };
}

const busy = () => waitingForProvider({ provider: 'p', isResting: () => false });

describe('the wait of a conversation is written to its execution', () => {
  it('once it has lasted, once for each reason, and is taken away when it has been over for as long', async () => {
    const { clock, writes, open, waitOf, end } = world();
    const note = open('a');
    note.drives(true);
    let isResting = false;
    const wait = note.waits(() => waitingForProvider({ provider: 'p', isResting: () => isResting }));
    await clock.advance(settleMs - 1);
    expect(writes).toHaveLength(0);
    await clock.advance(passMs);
    expect(waitOf('a')).toMatchObject({ reason: 'ProviderBusy', since: '2026-01-01T00:00:00.000Z' });
    isResting = true;
    await clock.advance(settleMs + 2 * passMs);
    expect(waitOf('a')?.reason).toBe('ProviderResting');
    await clock.advance(10 * 60_000);
    expect(writes).toHaveLength(2);
    wait[Symbol.dispose]();
    await clock.advance(settleMs + passMs);
    expect([waitOf('a'), writes.length]).toEqual([undefined, 3]);
    await end();
  });

  it('not for waits that are short, and not anew for each question that waits behind a short answer', async () => {
    const { clock, writes, open, waitOf, end } = world();
    const note = open('a');
    note.drives(true);
    for (let turn = 0; turn < 20; turn += 1) {
      const wait = note.waits(busy);
      await clock.advance(settleMs - 2_000);
      wait[Symbol.dispose]();
      await clock.advance(2_000);
    }
    expect(writes).toHaveLength(0);
    for (let turn = 0; turn < 20; turn += 1) {
      const wait = note.waits(busy);
      await clock.advance(60_000);
      wait[Symbol.dispose]();
      await clock.advance(2_000);
    }
    expect([waitOf('a')?.reason, writes.length]).toEqual(['ProviderBusy', 1]);
    await end();
  });

  it('at a bounded rate, of all tenants in turn, where 500 conversations wait for one provider', async () => {
    const { clock, writes, open, waitOf, end } = world();
    const names = Array.from({ length: 500 }, (_, index) => `many-${index}`);
    for (const uid of names) open(uid).waits(busy);
    open('other', 'globex').waits(busy);
    await clock.advance(settleMs);
    const before = writes.length;
    await clock.advance(passMs);
    expect(writes.length - before).toBeLessThanOrEqual(ofPass);
    expect(waitOf('other')?.reason).toBe('ProviderBusy');
    await clock.advance((500 / ofPass + 2) * passMs);
    expect(names.filter((uid) => waitOf(uid) === undefined)).toEqual([]);
    await clock.advance(10 * 60_000);
    expect(writes).toHaveLength(501);
    await end();
  });

  it('by no replica that only waits where another one drives it, and once where none does', async () => {
    const found = { look: 'drives' as Awaited<ReturnType<DriverLooks['look']>> };
    const { clock, shared, writes, open, waitOf, end } = world(async () => found.look);
    open('a').waits(waitingForRoom);
    await clock.advance(5 * 60_000);
    expect(writes).toHaveLength(0);
    found.look = 'unknown';
    await clock.advance(5 * 60_000);
    expect(writes).toHaveLength(0);
    found.look = 'unserved';
    await clock.advance(5 * 60_000);
    expect([waitOf('a')?.reason, writes.length]).toEqual(['WaitingForRoom', 1]);
    // Its new driver has taken it away.
    const { resourceVersion } = shared.get('run-a').metadata;
    shared.merge('run-a', { metadata: { resourceVersion }, spec: { wait: null } });
    await clock.advance(5 * 60_000);
    expect([waitOf('a'), writes.length]).toEqual([undefined, 1]);
    await end();
  });

  it('by a replica that only waits, beside a driver that is silent', async () => {
    const silent = () => Promise.reject(new AppError('timeout', 'silent', { reason: 'RequestTimeout' }));
    const { clock, open, waitOf, end } = world((uid) => looks.look(uid));
    const looks = createNoteLooks({ bus: { request: silent }, clock });
    open('a').waits(waitingForRoom);
    await clock.advance(5 * 60_000);
    expect(waitOf('a')?.reason).toBe('WaitingForRoom');
    await end();
  });

  it('not again and again where the API server is away', async () => {
    const { clock, shared, writes, open, waitOf, end } = world();
    shared.isAway = true;
    open('a').waits(busy);
    await clock.advance(5 * 60_000);
    expect(writes.length).toBeLessThan(7);
    shared.isAway = false;
    await clock.advance(2 * 60_000);
    expect(waitOf('a')?.reason).toBe('ProviderBusy');
    await end();
  });
});

const replicas = useReplicas();
const patience = { timeout: 30_000, interval: 50 };

describe('an execution whose conversation waits, on a real NATS server', () => {
  it('says so while its question waits for the provider, and no more once it has ended', {
    timeout: 60_000,
  }, async () => {
    const shared = new SharedExecutions();
    const answer = Promise.withResolvers<ModelReply>();
    replicas.start({
      shared,
      clock: hurriedClock,
      ask: async ({ onWait }) => {
        using _wait = onWait?.({ provider: 'openai', isResting: () => false });
        return await answer.promise;
      },
    });
    shared.put(executionOf('asking'));
    await vi.waitFor(() => expect(shared.objects.get('asking')?.spec.wait?.reason).toBe('ProviderBusy'), patience);
    expect(shared.objects.get('asking')?.spec.wait?.message).toContain('the provider openai');
    answer.resolve(replyOf('done'));
    await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), patience);
    expect(shared.objects.get('asking')?.spec.wait).toBeUndefined();
  });

  it('says so while the replica has no room for it', { timeout: 60_000 }, async () => {
    const shared = new SharedExecutions();
    const answer = Promise.withResolvers<ModelReply>();
    const ask = vi.fn<() => Promise<ModelReply>>(() => answer.promise);
    replicas.start({ shared, clock: hurriedClock, poolBytes: 512 * 1024, ask });
    shared.put(executionOf('held'));
    await vi.waitFor(() => expect(ask).toHaveBeenCalled(), patience);
    shared.put(executionOf('line'));
    await vi.waitFor(() => expect(shared.objects.get('line')?.spec.wait?.reason).toBe('WaitingForRoom'), patience);
    answer.resolve(replyOf('done'));
    await vi.waitFor(() => expect(shared.outcomes).toHaveLength(2), patience);
    expect(shared.objects.get('line')?.spec.wait).toBeUndefined();
  });
});
