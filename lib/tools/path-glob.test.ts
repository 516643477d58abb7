import { describe, expect, it } from 'vitest';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { limits } from '../../crds/limits.ts';
import { globWork, matchesGlob } from './path-glob.ts';
import { isDenied, isInside } from './path-rules.ts';
import { isRefusal } from './tool.ts';
import { createToolbox } from './toolbox.ts';
import { exceptionWithin } from './volume-policy.ts';

/** The same meaning, said to an engine that tries one way after the other. */
function expressionOf(glob: string): RegExp {
  const pieces: readonly (readonly [string, string])[] = [
    ['/**/', '/(?:.*/)?'],
    ['**/', '(?:.*/)?'],
    ['**', '.*'],
    ['*', '[^/]*'],
    ['?', '[^/]'],
  ];
  let expression = '';
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at);
    if (rest === '/**') return new RegExp(`^${expression}(?:/.*)?$`, 'su');
    const piece = pieces.find(([start]) => rest.startsWith(start));
    const [sign = ''] = rest;
    expression += piece?.[1] ?? sign.replace(/[.+^$|()\\]/, '\\$&');
    at += piece?.[0].length ?? sign.length;
  }
  return new RegExp(`^${expression}$`, 'su');
}

describe('a glob of paths', () => {
  it('matches the paths that its regular expression matches, for some thousands of both', () => {
    let seed = 7;
    const any = (count: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * count);
    };
    const text = (of: readonly string[], most: number): string =>
      `/${Array.from({ length: any(most) }, () => of[any(of.length)] ?? '').join('')}`;
    const differing: string[] = [];
    let matched = 0;
    for (let round = 0; round < 6_000; round++) {
      const glob = text(['a', 'b', '/', '*', '**', '?', '**/', '/**', '.'], 7);
      const path = text(['a', 'b', '/', '.', '😀'], 7);
      const want = expressionOf(glob).test(path);
      if (want) matched += 1;
      if (matchesGlob(glob, path, globWork()) !== want) differing.push(`${glob} ${path}`);
    }
    expect(differing).toEqual([]);
    expect(matched).toBeGreaterThan(500);
  });
});

/** The attacker writes an agent and a SecurityContext with as many rules as they take, each as long as it may be. */
describe('rules that follow a path in hundreds of ways at once', () => {
  it.each([
    [98, undefined],
    [99, false],
    [100, false],
  ])('cost their 99 signs, where the work left is %i: %s', (left, answer) => {
    expect(matchesGlob(`/${'x'.repeat(97)}*`, '', { left })).toBe(answer);
  });

  const dear = Array.from({ length: 100 }, (_, index) => `/${'*a'.repeat(500)}x${index}`);
  const path = `/${'a'.repeat(limits.toolPathLength - 2)}b`;

  it('cost a bounded number of looks, together, and then permit nothing', () => {
    const work = globWork();
    const boundaries = dear.map((rule) => ({ path: rule, write: true }));
    expect(isInside(boundaries, path, work)).toBe(false);
    expect(work.left).toBeGreaterThan(-200_000);
    expect(work.left).toBeLessThan(0);
    expect(isInside([{ path: '/**', write: true }], path, work)).toBe(false);
    expect(isDenied(['/other/*'], path, work)).toBe(true);
    const place = { folder: '/', boundaries: [{ path: '/**', write: true }], deny: [...dear, '/other/*'] };
    expect(exceptionWithin(place, { path, isWrite: false })).toMatch(/^deny_list has the rule /);
  });

  it('refuse a call of a tool as paths do that lie outside, or are denied', () => {
    const toolbox = createToolbox({ builtin_dispatchers: [] });
    const mounts = [{ path: '/', writable: true }];
    const codeOf = (security: object): string => {
      const admitted = toolbox.admit(aToolCaller({ mounts, security }), 'fs.read', { path });
      return isRefusal(admitted) ? admitted.code : 'admitted';
    };
    expect(codeOf({})).toBe('admitted');
    expect(codeOf({ path_allowlist: dear })).toBe('PathOutsideBoundary');
    const denied = Array.from({ length: 200 }, (_, index) => `/${'*a'.repeat(60)}x${index}`);
    expect(codeOf({ deny_list: denied })).toBe('PERMISSION_DENIED');
  });
});
