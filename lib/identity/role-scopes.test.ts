import { describe, expect, it } from 'vitest';
import { parseRoleScopes, roleScopesPattern, scopesOf } from './role-scopes.ts';

describe('EDGE-AUTH-09 scopes', () => {
  const mapped = parseRoleScopes('fleet-ops=svc.edge.fleet.read,svc.edge.fleet.manage;viewer=svc.edge.hosts.read');

  it('are the roles that are named like one', () => {
    expect(scopesOf(['svc.edge.enroll', 'svc:operator', 'viewer'], new Map())).toEqual(['svc.edge.enroll']);
  });

  it('are those that the setting gives to a role, each once', () => {
    expect(scopesOf(['fleet-ops', 'svc.edge.fleet.read'], mapped)).toEqual([
      'svc.edge.fleet.read',
      'svc.edge.fleet.manage',
    ]);
    expect(scopesOf(['viewer', 'other'], mapped)).toEqual(['svc.edge.hosts.read']);
  });

  it('of a role that is named twice are those of both entries', () => {
    expect(scopesOf(['a'], parseRoleScopes('a=svc.x;a=svc.y'))).toEqual(['svc.x', 'svc.y']);
  });

  it.each(['', 'a=svc.x', 'a=svc.x,svc.y;b=svc.z'])('can be written as %j', (text) => {
    expect(text).toMatch(new RegExp(roleScopesPattern));
  });

  it.each(['a', 'a=', '=svc.x', 'a=x', 'a=svc.x;', 'a=svc.x,', 'a b=svc.x'])('cannot be written as %j', (text) => {
    expect(text).not.toMatch(new RegExp(roleScopesPattern));
  });
});
