import { describe, expect, it } from 'vitest';
import { readTeams } from './teams.ts';

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
