import { describe, expect, it } from 'vitest';
import type { Identity } from './identity.ts';
import { scopeCall } from './scope-call.ts';

const rules = { systemTenant: 'system', operatorsOnly: false };
const identity = (change: Partial<Identity> = {}): Identity => ({
  subject: 'anna',
  kind: 'consumer',
  tenant: 'acme',
  roles: [],
  scopes: [],
  until: 0,
  ...change,
});
const machine = (change: Partial<Identity> = {}): Identity => identity({ kind: 'service-account', ...change });

describe('EDGE-AUTH-11 the team of a call', () => {
  const teams = [{ tenant: 'blue', isAdmin: true }];
  const ada = { ...identity({ kind: 'consumer' }), teams };

  it('is the one that is named, and the tenant stays that of the token', () => {
    expect(scopeCall(ada, 'blue', rules)).toMatchObject({ tenant: 'acme', team: teams[0] });
  });

  it('is none where none, or a tenant of others, is named', () => {
    expect(scopeCall(ada, undefined, rules)).not.toHaveProperty('team');
    expect(scopeCall(ada, 'red', rules)).not.toHaveProperty('team');
  });

  it('is none of a service account, whatever its claims say', () => {
    expect(scopeCall({ ...ada, kind: 'service-account' }, 'blue', rules)).not.toHaveProperty('team');
  });
});

describe('the tenant of a call', () => {
  it('ORCH-AUTH-07 of a service account is the one it names', () => {
    expect(scopeCall(machine(), 'other', rules).tenant).toBe('other');
  });

  it.each([['acme'], [undefined]])(
    'ORCH-AUTH-08 AMB-147 of a service account that names none is the system tenant, its claim being %s',
    (tenant) => {
      expect(scopeCall(machine({ tenant }), undefined, rules).tenant).toBe('system');
      expect(scopeCall(machine({ tenant }), undefined, { ...rules, systemTenant: 'base' }).tenant).toBe('base');
    },
  );

  it.each(['', 'Other', 'a b', '../other', 'a'.repeat(57), 'other, acme', 'öther'])(
    'AMB-147 of a service account that names %j is refused with 400',
    (named) => {
      expect(() => scopeCall(machine(), named, rules)).toThrow(
        expect.objectContaining({
          options: expect.objectContaining({
            code: 'invalid',
            details: [expect.objectContaining({ path: 'header.x-tenant-id' })],
          }) as unknown,
        }),
      );
    },
  );

  it.each(['consumer', 'operator'] as const)('ORCH-AUTH-09 of a %s is that of the token, whatever is named', (kind) => {
    const without = scopeCall(identity({ kind }), undefined, rules);
    expect(without.tenant).toBe('acme');
    for (const named of ['other', 'system', '', '../other']) {
      expect(scopeCall(identity({ kind }), named, rules)).toEqual(without);
    }
  });

  it.each(['consumer', 'operator'] as const)('AMB-149 of a %s whose token names none is refused with 403', (kind) => {
    for (const named of [undefined, 'acme']) {
      expect(() => scopeCall(identity({ kind, tenant: undefined }), named, rules)).toThrow(
        expect.objectContaining({ code: 'forbidden', message: 'the token names no tenant' }),
      );
    }
  });

  const only = { ...rules, operatorsOnly: true };

  it.each(['svc:operator', 'svc:admin'])('AMB-150 is granted to the role %s where only operators may call', (role) => {
    for (const caller of [identity({ roles: [role] }), machine({ roles: [role] })]) {
      expect(scopeCall(caller, undefined, only).subject).toBe('anna');
    }
  });

  it.each([[[]], [['other']]])('AMB-150 is refused to the roles %j where only operators may call', (roles) => {
    for (const caller of [identity({ roles }), machine({ roles })]) {
      expect(() => scopeCall(caller, undefined, only)).toThrow('only operators may use this installation');
    }
  });
});
