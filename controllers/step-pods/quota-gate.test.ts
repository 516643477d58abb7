import { describe, expect, it } from 'vitest';
import { KubeError } from '../../lib/kube/index.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createQuotaGate } from './quota-gate.ts';

const request = { verb: 'create', resource: 'pods' };
const full = () =>
  new KubeError(
    403,
    { message: 'pods "p" is forbidden: exceeded quota: q, requested: pods=1', reason: 'Forbidden' },
    request,
  );

/** A namespace with so much room, and executions that ask again whenever they are woken. */
function setUp(room: number) {
  const clock = createManualClock();
  const seen = { granted: [] as string[], refusedAt: [] as number[], answers: [] as string[], room, used: 0 };
  const start = clock.now();
  const wanted = new Map<string, number>();
  const gate = createQuotaGate(clock, (key) => void ask(key));
  const server = async (key: string): Promise<void> => {
    if (seen.used >= seen.room) {
      seen.refusedAt.push(clock.now() - start);
      throw full();
    }
    seen.used += 1;
    seen.granted.push(key);
    wanted.set(key, (wanted.get(key) ?? 1) - 1);
  };
  const ask = async (key: string): Promise<void> => {
    const wish = { namespace: 't', resource: 'pods', key };
    const tries = Array.from({ length: wanted.get(key) ?? 0 }, () => gate.create(wish, () => server(key)));
    const results = await Promise.allSettled(tries);
    const refused = results.find((result) => result.status === 'rejected');
    if (refused === undefined) gate.leave(key);
    else seen.answers.push((refused.reason as Error).message);
  };
  const want = async (key: string, count = 1): Promise<void> => {
    wanted.set(key, count);
    await ask(key);
  };
  const end = (count = 1): void => {
    seen.used -= count;
    gate.freed('t');
  };
  return { clock, gate, seen, want, ask, end };
}

const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `t/x${index}`);

describe('a namespace whose quota is full', () => {
  it('is asked by the first execution alone, ever more rarely, and by no other', async () => {
    const { clock, seen, want } = setUp(1);
    for (const key of keys(50)) await want(key);
    expect(seen.refusedAt).toEqual([0]);
    await clock.advance(60_000);
    expect(seen.refusedAt).toEqual([0, 1_250, 2_500, 5_000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
  });

  it('answers those in line in the words of the server, which name no object of another execution', async () => {
    const { seen, want } = setUp(0);
    await want('t/x0');
    await want('t/x1');
    expect(seen.answers[1]).toBe('create pods: exceeded quota: q, requested: pods=1');
  });

  it('is refused less than once a second, and tried as often, when something ends ten times a second for nothing', async () => {
    const { clock, gate, seen, want } = setUp(0);
    for (const key of keys(20)) await want(key);
    for (let tenth = 0; tenth < 600; tenth += 1) {
      gate.freed('t');
      await clock.advance(100);
    }
    expect(seen.granted).toEqual([]);
    expect(seen.refusedAt.length).toBeLessThanOrEqual(60);
    expect(seen.refusedAt.length).toBeGreaterThan(40);
  });

  it('fills all the room that comes free within two seconds, first come first served', async () => {
    const { clock, seen, want, end } = setUp(10);
    for (const key of keys(30)) await want(key);
    expect(seen.granted).toEqual(keys(10));
    end(7);
    await clock.advance(2_000);
    expect(seen.granted).toEqual(keys(17));
    end(3);
    await clock.advance(2_000);
    expect(seen.granted.toSorted()).toEqual(keys(20).toSorted());
  });

  it('takes notice of a larger quota, of which no watch tells, within ten seconds', async () => {
    const { clock, seen, want } = setUp(0);
    for (const key of keys(5)) await want(key);
    await clock.advance(60_000);
    seen.room = 3;
    await clock.advance(10_000);
    expect(seen.granted).toHaveLength(3);
  });

  it('gives an execution all the pods of its state, one after the other', async () => {
    const { clock, seen, want, end } = setUp(1);
    await want('t/first');
    await want('t/many', 4);
    seen.room = 5;
    end(0);
    await clock.advance(2_000);
    expect(seen.granted).toEqual(['t/first', 't/many', 't/many', 't/many', 't/many']);
  });

  it('lets the others go before one who was refused twice as the first', async () => {
    const { clock, seen, gate } = setUp(0);
    const asked: string[] = [];
    const ask = (key: string) =>
      gate
        .create({ namespace: 't', resource: 'pods', key }, async () => {
          asked.push(key);
          throw full();
        })
        .catch(() => undefined);
    for (const key of ['t/big', 't/small']) await ask(key);
    expect(asked).toEqual(['t/big']);
    expect(seen.granted).toEqual([]);
    await clock.advance(1_250);
    await ask('t/big');
    await clock.advance(2_500);
    await ask('t/big');
    await clock.advance(5_000);
    await ask('t/small');
    expect(asked).toEqual(['t/big', 't/big', 't/big', 't/small']);
  });

  it('gives the turn to the next when its owner wants nothing any more, or never asks', async () => {
    const { clock, gate, seen, want, ask, end } = setUp(0);
    for (const key of keys(3)) await want(key);
    gate.leave('t/x0');
    seen.room = 1;
    end(0);
    await clock.advance(2_000);
    expect(seen.granted).toEqual(['t/x1']);
    await ask('t/x1');
    expect(seen.granted).toEqual(['t/x1']);
  });

  it.each([
    { kind: 'pods', woken: [] },
    { kind: 'networkpolicies', woken: ['t/x'] },
  ])('takes one that wants no $kind any more out of their line alone', async (row) => {
    const clock = createManualClock();
    const seen: string[] = [];
    const gate = createQuotaGate(clock, (key) => seen.push(key));
    const refuse = () => Promise.reject(full());
    await gate.create({ namespace: 't', resource: 'pods', key: 't/x' }, refuse).catch(() => undefined);
    gate.leave('t/x', row.kind);
    await clock.advance(1_250);
    expect(seen).toEqual(row.woken);
  });

  it('costs no other anything: another namespace, another kind, and itself once the line is empty', async () => {
    const { clock, gate, seen, want, end } = setUp(0);
    await want('t/x0');
    const made = async () => 'made';
    expect(await gate.create({ namespace: 'u', resource: 'pods', key: 'u/x' }, made)).toBe('made');
    expect(await gate.create({ namespace: 't', resource: 'volumes', key: 't/y' }, made)).toBe('made');
    seen.room = 5;
    end(0);
    await clock.advance(2_000);
    expect(await gate.create({ namespace: 't', resource: 'pods', key: 't/y' }, made)).toBe('made');
  });

  it.each([
    { ms: 1_249, woken: [] },
    { ms: 1_250, woken: ['t/x'] },
  ])('rests for 1,250 ms after a refusal: $ms', async ({ ms, woken }) => {
    const clock = createManualClock();
    const seen: string[] = [];
    const gate = createQuotaGate(clock, (key) => seen.push(key));
    const refuse = () => Promise.reject(full());
    await gate.create({ namespace: 't', resource: 'pods', key: 't/x' }, refuse).catch(() => undefined);
    gate.freed('t');
    await clock.advance(ms);
    expect(seen).toEqual(woken);
  });

  it.each([
    { ms: 29_999, turn: 'first' },
    { ms: 31_251, turn: 'second' },
  ])('passes over one who has not asked: after $ms ms it is the turn of the $turn', async ({ ms, turn }) => {
    const clock = createManualClock();
    const woken: string[] = [];
    const gate = createQuotaGate(clock, (key) => woken.push(key));
    const refuse = async () => {
      throw full();
    };
    for (const key of ['t/first', 't/second']) {
      await gate.create({ namespace: 't', resource: 'pods', key }, refuse).catch(() => undefined);
    }
    await clock.advance(ms);
    expect(woken.at(-1)).toBe(`t/${turn}`);
  });

  it('is asked again soon after an answer that was none', async () => {
    const { clock, gate, seen, want } = setUp(0);
    await want('t/x0');
    const woken: string[] = [];
    const other = createQuotaGate(clock, (key) => woken.push(key));
    const create = (error: Error) =>
      other
        .create({ namespace: 't', resource: 'pods', key: 't/x' }, () => Promise.reject(error))
        .catch(() => undefined);
    await create(full());
    await clock.advance(1_250);
    await create(new Error('the connection broke'));
    await clock.advance(1_250);
    expect(woken).toEqual(['t/x', 't/x']);
    gate.leave('t/x0');
    expect(seen.granted).toEqual([]);
  });
});
