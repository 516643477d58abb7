import { describe, expect, it } from 'vitest';
import { type Boundary, covers, overlaps, RuleSet } from './path-overlap.ts';

const paths = [
  '/',
  '/**',
  '/a',
  '/a/',
  '/a/**',
  '/a0',
  '/a-b',
  '/a/b',
  '/a/b/**',
  '/a/*',
  '/a/*/c',
  '/a/b*/**',
  '/*/b',
  '/ab/c',
];
const rules = paths.map((path, at): Boundary => ({ path, write: at % 3 > 0 }));

/** Each of some beside each of the others, without any order. */
function pairwise(some: readonly Boundary[], others: readonly Boundary[]): Boundary[] {
  const found = new Map<string, boolean>();
  for (const one of some) {
    for (const other of others) {
      const path = covers(one.path, other.path) ? other.path : covers(other.path, one.path) ? one.path : undefined;
      if (path !== undefined) found.set(path, found.get(path) === true || (one.write && other.write));
    }
  }
  return [...found].map(([path, write]) => ({ path, write }));
}

describe('the overlap of two sets of rules', () => {
  it.each([
    ['/', '/a', true],
    ['/a', '/a', true],
    ['/a/', '/a', true],
    ['/a', '/ab', false],
    ['/a', '/a/*/c', true],
    ['/a/b', '/a/b*', false],
    ['/a/*', '/a/*', true],
    ['/a/*', '/a/b', false],
    ['/a/**', '/a', true],
  ])('%s covers all of %s: %s', (outer, inner, isCovered) => {
    expect(covers(outer, inner)).toBe(isCovered);
  });

  it('is that of each rule with each other one', () => {
    const turned = rules.toReversed().map(({ path }, at) => ({ path, write: at % 2 === 0 }));
    expect(overlaps(new RuleSet(rules), new RuleSet(turned))).toEqual(pairwise(rules, turned));
    for (const rule of rules) {
      expect(overlaps(new RuleSet([rule]), new RuleSet(turned))).toEqual(pairwise([rule], turned));
      expect(overlaps(new RuleSet(turned), new RuleSet([rule]))).toEqual(pairwise(turned, [rule]));
    }
  });

  it.each([999, 1_000, 1_001])('has a thousand rules at most, of %i', (count) => {
    const many = new RuleSet(Array.from({ length: count }, (_, at) => ({ path: `/${at}`, write: true })));
    expect(overlaps(many, new RuleSet([{ path: '/', write: true }]))).toHaveLength(Math.min(count, 1_000));
  });
});
