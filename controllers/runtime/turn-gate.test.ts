import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurnGate } from './turn-gate.ts';

/** A gate whose turns the test takes, and who came through, in order. */
function setUp() {
  const deferred: (() => void)[] = [];
  const gate = createTurnGate({ defer: (run) => void deferred.push(run) });
  const through: string[] = [];
  return {
    through,
    enter: (tenant: string, name = tenant) => void gate.enter(tenant).then(() => through.push(name)),
    turn: async () => {
      deferred.shift()?.();
      await Promise.resolve();
    },
  };
}

it('fifteen that wait of one tenant delay another tenant by one turn at most', async () => {
  const { through, enter, turn } = setUp();
  for (let index = 0; index < 15; index += 1) enter('a');
  enter('b');
  await turn();
  await turn();
  expect(through).toEqual(['a', 'b']);
  for (let index = 0; index < 14; index += 1) await turn();
  expect(through).toHaveLength(16);
});

it('lets one through in each turn, the tenants in turn, those of one in the order in which they came', async () => {
  const { through, enter, turn } = setUp();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) enter(name.slice(0, 1), name);
  const counts: number[] = [];
  for (let index = 0; index < 7; index += 1) {
    await turn();
    counts.push(through.length);
  }
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 6]);
  expect(through).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

it('begins again after it was empty', async () => {
  const { through, enter, turn } = setUp();
  enter('a');
  await turn();
  await turn();
  enter('a');
  await turn();
  expect(through).toEqual(['a', 'a']);
});

it('a tenant of short turns has as many as it needs between two long ones of another tenant', async () => {
  let used = 0;
  const gate = createTurnGate({ usedMs: () => used });
  const through: string[] = [];
  const worker = async (tenant: string, ms: number, turns: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) {
      await gate.enter(tenant);
      used += ms;
      through.push(tenant);
    }
  };
  const dear = Array.from({ length: 15 }, () => worker('a', 80, 4));
  await setImmediate();
  await setImmediate();
  const before = through.length;
  await worker('b', 1, 20);
  // The one that was next when the other tenant came.
  expect(through.slice(before).filter((tenant) => tenant === 'a').length).toBeLessThanOrEqual(1);
  await Promise.all(dear);
});

it('tenants have the same time of the processor, whatever their turns take, and none waits for ever', async () => {
  let used = 0;
  const gate = createTurnGate({ usedMs: () => used });
  const had = { a: 0, b: 0, c: 0 };
  const stop = new AbortController();
  const worker = async (tenant: keyof typeof had, ms: number): Promise<void> => {
    while (!stop.signal.aborted) {
      await gate.enter(tenant);
      used += ms;
      had[tenant] += ms;
    }
  };
  const all = [worker('a', 80), worker('a', 80), worker('b', 3), worker('c', 11), worker('c', 11), worker('c', 11)];
  while (used < 9_000) await setImmediate();
  stop.abort();
  await Promise.all(all);
  for (const ms of Object.values(had)) expect(Math.abs(ms - used / 3)).toBeLessThan(200);
});

it('a tenant that was away has no more than its turn when it comes back', async () => {
  let used = 0;
  const gate = createTurnGate({ usedMs: () => used });
  const through: string[] = [];
  const worker = async (tenant: string, turns: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) {
      await gate.enter(tenant);
      used += 10;
      through.push(tenant);
    }
  };
  const busy = [worker('a', 100), worker('a', 100)];
  while (through.length < 100) await setImmediate();
  const late = [worker('b', 20), worker('b', 20)];
  await Promise.all(late);
  const beside = through.slice(100, through.lastIndexOf('b'));
  expect(beside.filter((tenant) => tenant === 'a').length).toBeGreaterThan(30);
  await Promise.all(busy);
});
