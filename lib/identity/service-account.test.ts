import { describe, expect, it } from 'vitest';
import { isServiceAccount } from './service-account.ts';

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
