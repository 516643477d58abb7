import { describe, expect, it } from 'vitest';
import { isDomainAllowed } from './domain-policy.ts';
import { matchesAny, matchesApproved, matchesDenied, matchesName } from './name-pattern.ts';

describe('a pattern of names', () => {
  it.each([
    ['*', 'fs.read', true],
    ['fs.*', 'fs.read', true],
    ['fs.*', 'fs.', true],
    ['fs.*', 'fsx', false],
    ['fs.read', 'fs.read', true],
    ['fs.read', 'fs.reads', false],
    ['*.read', 'fs.read', true],
    ['*.list', 'svc.agent.list', true],
    ['svc.*.list', 'svc.agent.list', true],
    ['svc.*.list', 'svc.list', false],
    ['aa*aa', 'aaa', false],
    ['aa*aa', 'aaaa', true],
    ['', 'fs.read', false],
    ['fs?read', 'fs.read', false],
  ])('%s takes %s: %s', (pattern, name, want) => {
    expect(matchesName(pattern, name)).toBe(want);
  });
});

describe('a pattern that an older version has stored', () => {
  it('AMB-195 means what it meant where it has more than 8 stars', () => {
    const pattern = 'f*s*.*r*e*a*d*_*l*i*n*e';
    expect([matchesAny([pattern], 'fs.read_line'), matchesAny([pattern], 'fs.read')]).toEqual([true, false]);
    expect([matchesDenied([pattern], 'fs.read_line'), matchesDenied([pattern], 'fs.read')]).toEqual([true, false]);
  });

  it.each(['fs?read', 'fs.[rw]*', '{fs,web}.*', 'fs.read '])(
    'AMB-195 permits nothing where it is %s, denies everything, and lets everything wait',
    (pattern) => {
      expect([matchesAny([pattern], 'fs.read'), matchesDenied([pattern], 'fs.read')]).toEqual([false, true]);
      expect(matchesApproved([pattern], 'web.fetch')).toBe(true);
    },
  );

  it('AMB-195 denies by a list of right patterns what they fit, and nothing else', () => {
    expect([matchesDenied(['fs.*'], 'fs.read'), matchesDenied(['fs.*'], 'web.fetch')]).toEqual([true, false]);
    expect(matchesDenied(['/workspace/{a,b}/**'], 'fs.read')).toBe(false);
  });
});

describe('a list of domains', () => {
  it.each([
    [['example.com'], 'example.com', true],
    [['Example.com.'], 'EXAMPLE.com', true],
    [['example.com'], 'www.example.com', false],
    [['*.example.com'], 'www.example.com', true],
    [['*.example.com'], 'a.b.example.com', true],
    [['*.example.com'], 'example.com', false],
    [['*.example.com'], 'badexample.com', false],
    [['*'], 'example.com', false],
    [[], 'example.com', false],
    [undefined, 'example.com', false],
  ])('AMB-139 %j has %s: %s', (list, host, want) => {
    expect(isDomainAllowed(list, host)).toBe(want);
  });
});
