import { describe, expect, it } from 'vitest';
import { requireOperator } from './roles.ts';

describe('what only operators may do', () => {
  it.each([['svc:operator'], ['svc:admin']])('AMB-150 WF-API-12 is allowed with the role %s', (role) => {
    expect(() => requireOperator({ roles: ['other', role] })).not.toThrow();
  });

  it.each([[[]], [['other']], [['svc:viewer', 'svc:']], [['svc:operators']]])(
    'AMB-150 WF-API-12 is forbidden with the roles %j',
    (roles) => {
      expect(() => requireOperator({ roles })).toThrow('this needs the role svc:operator or svc:admin');
    },
  );
});
