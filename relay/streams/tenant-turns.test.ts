import { expect, it } from 'vitest';
import { createTenantTurns } from './tenant-turns.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

function line() {
  const turns = createTenantTurns(2);
  const begun: string[] = [];
  const enter = (tenant: string, name: string) => {
    const { turn, hurry } = turns.enter(tenant);
    void turn.then(() => begun.push(name));
    return { hurry, leave: async () => (await turn)[Symbol.dispose]() };
  };
  return { begun, enter };
}

it('gives each tenant its own turns, in the order in which they were asked for', async () => {
  const { begun, enter } = line();
  const [a, b, c, d] = [enter('acme', 'a'), enter('acme', 'b'), enter('acme', 'c'), enter('acme', 'd')];
  const u = enter('umbra', 'u');
  await settled();
  expect(begun).toEqual(['a', 'b', 'u']);
  await b.leave();
  await settled();
  expect(begun).toEqual(['a', 'b', 'u', 'c']);
  for (const one of [a, c, d, u]) await one.leave();
  enter('acme', 'e');
  await settled();
  expect(begun).toEqual(['a', 'b', 'u', 'c', 'd', 'e']);
});

it('has one done before its turn, once, and no more at once after that', async () => {
  const { begun, enter } = line();
  const [a, b, c, d] = [enter('acme', 'a'), enter('acme', 'b'), enter('acme', 'c'), enter('acme', 'd')];
  d.hurry();
  d.hurry();
  await settled();
  expect(begun).toEqual(['a', 'b', 'd']);
  await a.leave();
  await settled();
  expect(begun).toEqual(['a', 'b', 'd']);
  await b.leave();
  await settled();
  expect(begun).toEqual(['a', 'b', 'd', 'c']);
  await Promise.all([c, d].map((one) => one.leave()));
});
