import { describe, expect, it } from 'vitest';
import { readIdentity } from './identity.ts';

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
