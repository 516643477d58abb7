import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../lib/identity/index.ts';
import { type EdgeScope, edgeCaller } from './edge-caller.ts';

const caller = (more: Partial<Caller> = {}): Caller => ({
  subject: 'ada',
  kind: 'consumer',
  tenant: 'ada-home',
  roles: [],
  scopes: [],
  until: 0,
  ...more,
});
const scopes: readonly EdgeScope[] = [
  'svc.edge.enroll',
  'svc.edge.hosts.read',
  'svc.edge.hosts.write',
  'svc.edge.groups.write',
  'svc.edge.fleet.read',
  'svc.edge.fleet.manage',
];

describe('who may do what with edge hosts', () => {
  it.each(scopes)('EDGE-AUTH-08 is refused without %s, whatever other scope or role there is', (scope) => {
    const others = scopes.filter((one) => one !== scope);
    const refused = { options: { code: 'forbidden', message: `this needs the scope ${scope}` } };
    for (const more of [{}, { scopes: others }, { roles: ['svc:admin'], kind: 'operator' as const }]) {
      expect(() => edgeCaller(caller(more), scope)).toThrow(expect.objectContaining(refused));
    }
  });

  it.each(scopes)('EDGE-AUTH-09 is admitted with %s', (scope) => {
    expect(edgeCaller(caller({ scopes: [scope] }), scope)).toMatchObject({ tenant: 'ada-home' });
  });

  it('is admitted with either of two scopes', () => {
    const read = (scope: EdgeScope) =>
      edgeCaller(caller({ scopes: [scope] }), 'svc.edge.hosts.read', 'svc.edge.enroll');
    expect([read('svc.edge.hosts.read').subject, read('svc.edge.enroll').subject]).toEqual(['ada', 'ada']);
  });

  it('EDGE-AUTH-11 acts in the team that a member has named, else in the tenant of the token', () => {
    const named = caller({ scopes: ['svc.edge.enroll'], team: { tenant: 'blue', isAdmin: false } });
    expect(edgeCaller(named, 'svc.edge.enroll').tenant).toBe('blue');
    expect(edgeCaller(caller({ scopes: ['svc.edge.enroll'] }), 'svc.edge.enroll').tenant).toBe('ada-home');
  });

  it('EDGE-AUTH-10 of a service account acts in the tenant of the call', () => {
    const robot = caller({ kind: 'service-account', tenant: 'acme', scopes: ['svc.edge.enroll'] });
    expect(edgeCaller(robot, 'svc.edge.enroll').tenant).toBe('acme');
  });
});
