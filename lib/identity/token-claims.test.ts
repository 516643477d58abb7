import { describe, expect, it } from 'vitest';
import { claimAt, listClaim, textClaim } from './token-claims.ts';

describe('a claim', () => {
  const claims = {
    tenant_id: 'acme',
    'https://example.com/roles': ['a'],
    'realm_access.roles': 'literal',
    resource: { api: { roles: ['b'] } },
    empty: '',
    number: 7,
  };

  it.each([
    ['tenant_id', 'acme'],
    ['https://example.com/roles', ['a']],
    ['resource.api.roles', ['b']],
    ['realm_access.roles', 'literal'],
    ['resource.api.none', undefined],
    ['tenant_id.length', undefined],
    ['constructor', undefined],
    ['resource.__proto__.x', undefined],
    ['', undefined],
  ])('%j is found by its name, else by its path', (name, want) => {
    expect(claimAt(claims, name)).toEqual(want);
  });

  it.each([
    ['tenant_id', 'acme'],
    ['empty', undefined],
    ['number', undefined],
    ['missing', undefined],
  ])('%s as text is %s', (name, want) => {
    expect(textClaim(claims, name)).toBe(want);
  });

  it.each([
    ['a string', 'svc:admin', ['svc:admin']],
    ['a list', ['svc:admin', 'other'], ['svc:admin', 'other']],
    ['an empty string', '', []],
    ['a list with what is no role', ['svc:admin', 7, null, '', ['svc:operator']], ['svc:admin']],
    ['a number', 7, []],
    ['an object', { role: 'svc:admin' }, []],
    ['null', null, []],
  ])('AMB-122 %s as a list', (_, roles, want) => {
    expect(listClaim({ roles }, 'roles')).toEqual(want);
  });

  it('AMB-122 that is missing is an empty list', () => {
    expect(listClaim({}, 'roles')).toEqual([]);
  });
});
