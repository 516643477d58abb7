import { describe, expect, it } from 'vitest';
import { isServiceAccount, readIdentity, readTeams } from './identity.ts';

const names = {
  tenantClaim: 'tenant_id',
  roleClaim: 'svc_role',
  teamClaim: 'team_memberships',
  roleScopes: new Map(),
  kindClaim: 'identity_kind',
  usernameClaim: 'preferred_username',
  usernamePrefix: 'service-account-',
};

const exp = 1_767_225_600;
const until = (exp + 5) * 1_000;
const read = (claims: object) => readIdentity({ sub: 'anna', exp, ...claims }, names);

describe('the identity behind a token', () => {
  it('AMB-018 has the subject, the tenant, the roles and the scopes of its claims', () => {
    expect(read({ tenant_id: 'acme', svc_role: ['svc:operator', 'svc.edge.hosts.read', 'other'] })).toEqual({
      subject: 'anna',
      kind: 'operator',
      tenant: 'acme',
      roles: ['svc:operator', 'svc.edge.hosts.read', 'other'],
      scopes: ['svc.edge.hosts.read'],
      until,
    });
  });

  it.each([
    ['svc:operator', 'operator'],
    ['svc:admin', 'operator'],
    [['other', 'svc:admin'], 'operator'],
    ['svc:Operator', 'consumer'],
    ['svc:operator svc:admin', 'consumer'],
    ['other', 'consumer'],
    [undefined, 'consumer'],
  ])('AMB-122 with the role claim %j is a %s', (svc_role, want) => {
    expect(read({ svc_role }).kind).toBe(want);
  });

  it('is a service account also with a role of operators', () => {
    expect(read({ identity_kind: 'service_account', svc_role: 'svc:admin' }).kind).toBe('service-account');
  });

  it.each([
    ['acme', 'acme'],
    ['a', 'a'],
    ['a'.repeat(56), 'a'.repeat(56)],
    ['a'.repeat(57), undefined],
    ['Acme', undefined],
    ['acme/other', undefined],
    ['-acme', undefined],
    ['acme\n', undefined],
    ['', undefined],
    [7, undefined],
    [['acme'], undefined],
    [null, undefined],
    [undefined, undefined],
  ])('AMB-149 with the tenant claim %j has the tenant %s', (tenant_id, want) => {
    expect(read({ tenant_id }).tenant).toBe(want);
  });

  it('is read from claims of other names where they are configured', () => {
    const others = { ...names, tenantClaim: 'org', roleClaim: 'realm_access.roles', kindClaim: 'kind' };
    const claims = { sub: 'ci', org: 'acme', realm_access: { roles: ['svc:admin'] }, kind: 'service-account' };
    expect(readIdentity(claims, others)).toMatchObject({
      kind: 'service-account',
      tenant: 'acme',
      roles: ['svc:admin'],
    });
  });
});

const rule = {
  kindClaim: 'identity_kind',
  usernameClaim: 'preferred_username',
  usernamePrefix: 'service-account-',
};

describe('a service account', () => {
  it.each([
    [{ identity_kind: 'service_account' }, true],
    [{ identity_kind: 'service-account' }, true],
    [{ preferred_username: 'service-account-ci' }, true],
    [{ identity_kind: 'service_account', preferred_username: 'anna' }, true],
    [{ identity_kind: null, preferred_username: 'service-account-ci' }, true],
    [{ identity_kind: 'consumer', preferred_username: 'service-account-ci' }, false],
    [{ identity_kind: '', preferred_username: 'service-account-ci' }, false],
    [{ identity_kind: ['service_account'] }, false],
    [{ identity_kind: 'Service_Account' }, false],
    [{ preferred_username: 'anna' }, false],
    [{ preferred_username: 'my-service-account-ci' }, false],
    [{ preferred_username: 'service-account' }, false],
    [{ preferred_username: 7 }, false],
    [{}, false],
  ])('AMB-146 is recognised by its kind, and only without one by its username: %j → %s', (claims, want) => {
    expect(isServiceAccount(claims, rule)).toBe(want);
  });

  it('is never recognised by its username where no prefix is configured', () => {
    const without = { ...rule, usernamePrefix: undefined };
    expect(isServiceAccount({ preferred_username: 'service-account-ci' }, without)).toBe(false);
  });
});

const member = (tenant: string) => ({ tenant, isAdmin: false });
const admin = (tenant: string) => ({ tenant, isAdmin: true });

describe('EDGE-AUTH-11 the claim of team memberships', () => {
  it.each<[title: string, value: unknown, want: readonly object[]]>([
    ['absent', undefined, []],
    ['null', null, []],
    ['one team', 'blue', [member('blue')]],
    ['teams, one as an administrator', ['blue', 'red:admin'], [member('blue'), admin('red')]],
    [
      'objects',
      [
        { tenant_id: 'blue', role: 'member' },
        { tenant_id: 'red', role: 'admin' },
      ],
      [member('blue'), admin('red')],
    ],
    ['an object without a role', [{ tenant_id: 'blue' }], [member('blue')]],
    ['both rights, the lesser last', ['blue:admin', 'blue'], [admin('blue')]],
    ['both rights, the lesser first', ['blue', 'blue:admin'], [admin('blue')]],
    ['entries of no form', [1, null, ['blue'], {}, { tenant_id: 7 }, ''], []],
    ['names that are no slugs', ['Blue!', '../x', 'blue:owner', ':admin', 'a/b:admin'], []],
    ['an administrator by another case', ['blue:Admin', { tenant_id: 'red', role: 'ADMIN' }], [member('red')]],
  ])('%s', (_title, value, want) => {
    expect(readTeams({ team_memberships: value }, 'team_memberships')).toEqual(want);
  });

  it('is read at a path', () => {
    expect(readTeams({ org: { teams: ['blue'] } }, 'org.teams')).toEqual([member('blue')]);
  });

  it.each([255, 256, 257])('with %i entries has the first 256', (count) => {
    const teams = Array.from({ length: count }, (_, index) => `team-${index}`);
    expect(readTeams({ t: teams }, 't')).toHaveLength(Math.min(count, 256));
  });
});
