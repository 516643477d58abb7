import { expect, it } from 'vitest';
import { createMemoryHosts, type MemoryHosts } from '../../test/support/memory-hosts.ts';
import { createLookUps } from './look-ups.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** `listNow` ends the pause before a list. */
function line(hosts: MemoryHosts = createMemoryHosts()) {
  let gathered: (() => void) | undefined;
  const clock = { sleep: () => new Promise<void>((resolve) => (gathered = resolve)) };
  const lookUps = createLookUps({ clock, hosts }, 2);
  const begun: string[] = [];
  const shown: string[] = [];
  const enter = (tenant: string, name: string) => {
    const { turn, hurry } = lookUps.enter(tenant, name);
    void turn.then(({ host }) => {
      begun.push(name);
      if (host !== undefined) shown.push(name);
    });
    return { hurry, leave: async () => (await turn)[Symbol.dispose]() };
  };
  const listNow = async (): Promise<void> => {
    gathered?.();
    await settled();
  };
  return { begun, shown, enter, listNow };
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

async function manyHosts(names: readonly string[]): Promise<MemoryHosts> {
  const hosts = createMemoryHosts();
  for (const name of names) {
    const at = new Date().toISOString();
    const made = await hosts.create({ tenant: 'acme', nodeId: name, name: undefined, enrolledBy: 'ada' });
    const own = { node_id: name, since: at, enrolled_at: at, keys: { current: 'k' }, token_jti: 'j' };
    await hosts.write(made, { ...own, status: 'Disconnected' });
  }
  return hosts;
}
const names = Array.from({ length: 200 }, (_, at) => `n${at}`);

it('lists the hosts of a tenant of which many wait, and shows each its host two at once', async () => {
  const hosts = await manyHosts(names.filter((name) => name !== 'n100'));
  const { begun, shown, enter, listNow } = line(hosts);
  const waiting = names.map((name) => enter('acme', name));
  await settled();
  const [first, second, ...rest] = waiting;
  await Promise.all([first?.leave(), second?.leave()]);
  await settled();
  // The others wait for the list, save one that is in a hurry.
  rest[0]?.hurry();
  await settled();
  expect([begun, shown]).toEqual([['n0', 'n1', 'n2'], []]);
  await listNow();
  expect(begun).toHaveLength(4);
  // One that the list does not have is asked for by itself, after the others.
  for (const one of [...rest.toSpliced(98, 1), ...rest.slice(98, 99)]) await one.leave();
  expect(begun.toSorted()).toEqual(names.toSorted());
  expect(begun.at(-1)).toBe('n100');
  expect(shown).toEqual(names.filter((name) => !['n0', 'n1', 'n2', 'n100'].includes(name)));
});

it('asks for each by itself where the list fails', async () => {
  const hosts = await manyHosts(names);
  const failing = {
    ...hosts,
    pagesOf: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('away')) }) }),
  };
  const { begun, shown, enter, listNow } = line(failing);
  const waiting = names.map((name) => enter('acme', name));
  await settled();
  for (const one of waiting.slice(0, 2)) await one.leave();
  await settled();
  await listNow();
  for (const one of waiting.slice(2)) await one.leave();
  expect(begun).toEqual(names);
  expect(shown).toEqual([]);
});
