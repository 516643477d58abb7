import { expect, it } from 'vitest';
import { jsonCost, valueCost } from './json-cost.ts';

/** Keys that share one hash of the kind `31 · hash + code`, which is known to everybody: `Aa` and `BB` do. */
const alike = (pairs: number): string[] =>
  pairs === 0 ? [''] : alike(pairs - 1).flatMap((key) => [`${key}Aa`, `${key}BB`]);
const objectOf = (keys: readonly string[]): string => `{${keys.map((key) => `"k${key}":0`).join(',')}}`;

it('keys that a sender has chosen to hash alike cost as much as others', () => {
  const chosen = alike(12);
  const others = chosen.map((_, index) => index.toString(2).padStart(24, 'x'));
  const [costs, usual] = [jsonCost(objectOf(chosen)), jsonCost(objectOf(others))];
  expect(costs / usual).toBeGreaterThan(0.8);
  expect(costs / usual).toBeLessThan(1.25);
});

it('a key costs once, however often it occurs', () => {
  const cost = (count: number): number => jsonCost(`[${'{"a":0},'.repeat(count)}0]`);
  expect(cost(1_000) - cost(999)).toBe(cost(2) - cost(1));
});

it('strings of escapes that are none cost something, and take nothing off the price of what comes before', () => {
  const before = '[{},{}';
  const broken = String.raw`"\u\u\u\u\u\u\u\u"`;
  expect(jsonCost(`${before},${broken.repeat(1_000)}`)).toBeGreaterThan(jsonCost(before));
  expect(jsonCost(broken.repeat(1_000))).toBeGreaterThan(broken.length * 300);
});

it.each(['[]', '{}', '1.5', '"some words"', '{"a":0}', '[{"b":[null]},-0]'])(
  'a parsed list of %s costs about what its text costs, and no more than the bound that is given',
  (member) => {
    const text = `[${Array(1_000).fill(member).join(',')}]`;
    const cost = valueCost(JSON.parse(text), Number.POSITIVE_INFINITY);
    expect(cost / jsonCost(text)).toBeGreaterThan(0.6);
    expect(cost / jsonCost(text)).toBeLessThan(1.4);
    expect(valueCost(JSON.parse(text), 100)).toBe(100);
  },
);

it('keys of parsed objects cost once, and those that may be indexes each time', () => {
  const cost = (key: string, count: number): number =>
    valueCost(Array(count).fill({ [key]: null }), Number.POSITIVE_INFINITY);
  expect(cost('a', 1_000) - cost('a', 999)).toBe(cost('a', 3) - cost('a', 2));
  expect(cost('7', 3) - cost('7', 2)).toBeGreaterThan(cost('a', 3) - cost('a', 2) + 200);
});
