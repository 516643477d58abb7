import { describe, expect, it } from 'vitest';
import type { KeyValueChange } from '../../lib/bus/index.ts';
import type { SealSession } from '../../lib/envelope/index.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createSessionView } from './session-view.ts';

function world({ size = 1_048_576, orphans = [] as string[] } = {}) {
  const clock = createManualClock();
  const looks = { count: 0 };
  const problem: { now?: string } = {};
  const changes: KeyValueChange<SealSession>[] = [];
  async function* watch<T>() {
    yield* changes as KeyValueChange<T>[];
  }
  const view = createSessionView({
    bus: { watch, problem: () => problem.now },
    clock,
    logger: silentLogger,
    size,
    isOrphan: ({ execution_id: id }) => {
      looks.count += 1;
      return orphans.includes(id);
    },
  });
  return { clock, looks, changes, problem, view };
}

const start = Date.parse('2026-01-01T00:00:00Z');

const session = (id: string, more: Partial<SealSession> = {}): SealSession => ({
  execution_id: id,
  session_id: `s-${id}`,
  agent_id: 'a',
  public_key: 'key',
  pod_uid: 'p',
  security_context: 'default',
  tenant: 'acme',
  allowed_tool_patterns: ['x'.repeat(100_000)],
  expires_at: new Date(start + 3_600_000).toISOString(),
  ...more,
});

const all = { after: undefined, limit: 100_000 };
const ids = (view: ReturnType<typeof world>['view'], tenant = 'acme') =>
  view.range(tenant, all).map(({ execution_id: id }) => id);

/** As many sessions as the share of a tenant takes. */
function fill(view: ReturnType<typeof world>['view'], tenant: string, more: Partial<SealSession> = {}): number {
  for (let count = 0; ; count += 1) {
    const one = session(`${tenant}-${count}`, { ...more, tenant });
    try {
      view.reserve(one)[Symbol.dispose]();
    } catch (error) {
      if (error instanceof HttpError && error.options.error === 'session_share_used') return count;
      throw error;
    }
    view.remember(one);
  }
}

describe('the sessions that a replica has heard of', () => {
  it('come in pages in order, of which one row costs no look at the others', () => {
    const { view, looks } = world({ size: 16 * 1_048_576 });
    for (let at = 0; at < 5_000; at += 1) view.remember(session(`x${(at * 7_919) % 5_000}`));
    looks.count = 0;
    expect(view.range('acme', { after: 'x4998', limit: 1 }).map(({ execution_id: id }) => id)).toEqual(['x4999']);
    expect(view.range('acme', { after: 'x1', limit: 3 }).map(({ execution_id: id }) => id)).toEqual([
      'x10',
      'x100',
      'x1000',
    ]);
    expect(looks.count).toBe(4);
  });

  it('are kept without their patterns, and those of one tenant within its share', () => {
    const { view } = world();
    expect(view.of(session('none'))).toBeUndefined();
    const own = fill(view, 'acme');
    expect(own).toBeGreaterThan(1_000);
    expect(view.of({ tenant: 'acme', execution_id: 'acme-0' })).not.toHaveProperty('allowed_tool_patterns');
    expect(fill(view, 'rival')).toBeGreaterThan(100);
    view.remember(session('beyond'));
    expect(view.of(session('beyond'))).toBeUndefined();
    expect(ids(view)).toHaveLength(own);
  });

  it('that are being made count as well, until they are there or were given up', async () => {
    const { changes, view } = world();
    const most = fill(view, 'rival');
    for (let at = 0; at < most; at += 1) view.remember(session(`rival-${at}`, { tenant: 'rival', revoked: true }));
    const held: Disposable[] = [];
    const reserve = (at: number) => void held.push(view.reserve(session(`rival-${at}`, { tenant: 'rival' })));
    for (let at = 0; at < most; at += 1) reserve(at);
    expect(() => reserve(most)).toThrow(HttpError);
    // A lost connection lets go of what was heard, and of nothing that is held.
    changes.push({ kind: 'begin' });
    await view.run(AbortSignal.abort());
    expect(() => reserve(most)).toThrow(HttpError);
    for (const room of held) {
      room[Symbol.dispose]();
      room[Symbol.dispose]();
    }
    expect(fill(view, 'rival')).toBe(most);
  });

  it('may take the place of the same execution in a full share', () => {
    const { view } = world();
    fill(view, 'acme');
    expect(() => view.reserve(session('acme-0'))).not.toThrow();
  });

  it('are let go when they expire, are revoked, or their tenant is gone', async () => {
    const orphans: string[] = [];
    const { clock, view } = world({ orphans });
    const short = { expires_at: new Date(start + 60_000).toISOString() };
    const most = fill(view, 'acme', short);
    await clock.advance(60_000);
    expect(ids(view)).toEqual([]);
    expect(fill(view, 'acme')).toBe(most);
    view.remember(session('acme-1', { revoked: true }));
    expect(view.of(session('acme-1'))).toBeUndefined();
    view.reserve(session('another'))[Symbol.dispose]();
    view.remember(session('another'));
    orphans.push('acme-2');
    await clock.advance(1_000);
    view.reserve(session('a-third'));
  });

  it('of a full share are looked through once a second, however many more come', async () => {
    const { clock, view, looks } = world();
    const most = fill(view, 'acme');
    await clock.advance(1_000);
    looks.count = 0;
    for (let at = 0; at < 100; at += 1) {
      expect(() => view.reserve(session(`refused-${at}`))).toThrow(HttpError);
      view.remember(session(`heard-${at}`));
    }
    expect(looks.count).toBe(most);
  });

  it('are let go at their time without a word of the bus', async () => {
    const { clock, view, looks } = world();
    const stop = new AbortController();
    const running = view.run(stop.signal);
    for (let at = 0; at < 10; at += 1)
      view.remember(session(`x${at}`, { expires_at: new Date(start + 5_000).toISOString() }));
    await clock.advance(10_000);
    looks.count = 0;
    await clock.advance(10_000);
    expect(looks.count).toBe(0);
    stop.abort();
    await running;
  });

  it('GW-OP-13 are listed once all are read, at a start and after a lost connection', async () => {
    const { clock, changes, problem, view } = world();
    const refused = { code: 'unavailable', reason: 'SessionsUnread' };
    const early = view.read();
    early.catch(() => undefined);
    await clock.advance(4_999);
    expect(await Promise.race([early, Promise.resolve('waits')])).toBe('waits');
    await clock.advance(1);
    await expect(early).rejects.toMatchObject(refused);
    const first = view.read();
    changes.push({ kind: 'begin' }, { kind: 'current' });
    await view.run(AbortSignal.abort());
    await first;
    await view.read();
    changes.splice(0, 2, { kind: 'begin' });
    await view.run(AbortSignal.abort());
    const again = view.read();
    again.catch(() => undefined);
    await clock.advance(5_000);
    await expect(again).rejects.toMatchObject(refused);
    changes.splice(0, 1, { kind: 'current' });
    await view.run(AbortSignal.abort());
    problem.now = 'away';
    await expect(view.read()).rejects.toMatchObject(refused);
  });

  it('GW-OP-13 are listed once the watch of the next connection has named all, and calls find them meanwhile', async () => {
    const { clock, changes, view } = world();
    changes.push({ kind: 'begin' }, { kind: 'put', name: 'a', value: session('a'), revision: 1 }, { kind: 'current' });
    await view.run(AbortSignal.abort());
    await view.read();
    changes.splice(0, 3, { kind: 'lost' });
    await view.run(AbortSignal.abort());
    const early = view.read();
    early.catch(() => undefined);
    expect(view.of(session('a'))).toBeDefined();
    await clock.advance(5_000);
    await expect(early).rejects.toMatchObject({ code: 'unavailable', reason: 'SessionsUnread' });
    const waiting = view.read();
    changes.splice(0, 1, { kind: 'begin' }, { kind: 'put', name: 'b', value: session('b'), revision: 2 });
    await view.run(AbortSignal.abort());
    expect(await Promise.race([waiting, Promise.resolve('waits')])).toBe('waits');
    changes.splice(0, 2, { kind: 'current' });
    await view.run(AbortSignal.abort());
    await waiting;
    expect(ids(view)).toEqual(['b']);
  });

  it('are heard of anew after a lost connection', async () => {
    const { changes, view } = world();
    const put = (id: string): KeyValueChange<SealSession> => ({
      kind: 'put',
      name: id,
      value: session(id),
      revision: 1,
    });
    changes.push({ kind: 'begin' }, put('a'), put('b'), { kind: 'begin' }, put('c'));
    const stop = new AbortController();
    const running = view.run(stop.signal);
    await expect.poll(() => ids(view)).toEqual(['c']);
    stop.abort();
    await running;
  });
});
