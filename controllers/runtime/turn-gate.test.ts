import { expect, it } from 'vitest';
import { createTurnGate } from './turn-gate.ts';

/** A gate whose turns the test takes, and who came through, in order. */
function setUp() {
  const deferred: (() => void)[] = [];
  const gate = createTurnGate((run) => void deferred.push(run));
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
