import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { readEnrollmentToken } from '../../../../lib/edge/index.ts';
import { edgeWorld, everyEdgeScope } from '../../../../test/builders/edge-world.ts';
import { issueEnrollmentToken } from './contract.ts';

const now = Date.parse('2026-01-02T00:00:00.500Z');
const { call, audited, publicKey } = edgeWorld();
const issue = (body: object = {}, caller: object = {}) => call('issueEnrollmentToken', { body }, caller);
const claimsOf = (answer: unknown, at = now) => readEnrollmentToken(publicKey, (answer as { token: string }).token, at);

describe('issuing an enrollment token', () => {
  it('EDGE-REST-04 EDGE-REST-05 EDGE-REST-06 answers the token, its end, the address and the QR text', async () => {
    const answer = (await issue()) as Record<string, string>;
    expect(answer).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expires_at: '2026-01-02T00:15:00.000Z',
      controller_endpoint: 'edge.example.com:443',
      qr_payload: `svc-edge-enroll://${answer['token']}`,
    });
  });

  it('EDGE-REST-01 EDGE-REST-03 EDGE-RES-30 binds it to the personal tenant, the name and the issuer', async () => {
    const claims = await claimsOf(await issue({ name: 'build-7' }));
    expect(claims).toMatchObject({ tid: 'acme', name: 'build-7', issuedBy: 'ada' });
    expect((await claimsOf(await issue()))?.name).toBeUndefined();
  });

  it('has a token id of its own each time', async () => {
    const [first, second] = [await claimsOf(await issue()), await claimsOf(await issue())];
    expect(first?.jti).not.toBe(second?.jti);
  });

  it('EDGE-REST-02 EDGE-TOOL-07 lives as long as asked, 900 seconds by default', async () => {
    for (const [body, seconds] of [
      [{}, 900],
      [{ ttl_seconds: 1 }, 1],
      [{ ttl_seconds: 900 }, 900],
    ] as const) {
      const answer = await issue(body);
      const end = Math.floor(now / 1_000) + seconds;
      expect(await claimsOf(answer)).toMatchObject({ exp: end });
      expect(answer).toMatchObject({ expires_at: new Date(end * 1_000).toISOString() });
      expect(await claimsOf(answer, (end + 60) * 1_000)).toBeUndefined();
    }
  });

  it.each([
    [1, true],
    [899, true],
    [900, true],
    [901, false],
    [0, false],
    [-1, false],
    [1.5, false],
    ['900', false],
    [null, false],
  ])('EDGE-REST-07 AMB-092 takes ttl_seconds %j: %s', (ttl_seconds, isValid) => {
    expect(Value.Check(issueEnrollmentToken.body.schema, { ttl_seconds })).toBe(isValid);
  });

  const blueMember = { teams: [{ tenant: 'blue', isAdmin: false }] };
  const blueAdmin = { teams: [{ tenant: 'blue', isAdmin: true }] };

  it('EDGE-REST-03 binds it to the team of an administrator', async () => {
    expect(await claimsOf(await issue({ team_tenant_id: 'blue' }, blueAdmin))).toMatchObject({ tid: 'blue' });
    const named = { ...blueAdmin, team: { tenant: 'blue', isAdmin: true } };
    expect(await claimsOf(await issue({}, named))).toMatchObject({ tid: 'blue' });
  });

  it.each([
    ['a member of the team', { team_tenant_id: 'blue' }, blueMember],
    ['a member who names the team by the header', {}, { ...blueMember, team: blueMember.teams[0] }],
    ['an administrator of another team', { team_tenant_id: 'red' }, blueAdmin],
    ['an operator of no team', { team_tenant_id: 'blue' }, { roles: ['svc:admin'] }],
    ['a service account of another tenant', { team_tenant_id: 'blue' }, { kind: 'service-account' }],
  ])('EDGE-REST-10 is refused to %s', async (_title, body, caller) => {
    expect(await issue(body, caller)).toMatchObject({ error: 'forbidden' });
  });

  it('takes the own tenant for a team without further rights', async () => {
    expect(await claimsOf(await issue({ team_tenant_id: 'acme' }))).toMatchObject({ tid: 'acme' });
  });

  it.each(['unknown', '../acme', 'ACME'])('EDGE-REST-08 refuses the team %j with 400', async (team_tenant_id) => {
    expect(await issue({ team_tenant_id }, blueAdmin)).toMatchObject({
      code: 'invalid',
      details: [{ path: 'body.team_tenant_id', message: 'is the tenant of no team' }],
    });
  });

  it('AMB-093 asks for the scope before it tells whether a team exists', async () => {
    const scopes = everyEdgeScope.filter((scope) => scope !== 'svc.edge.enroll');
    for (const team_tenant_id of ['blue', 'unknown']) {
      expect(await issue({ team_tenant_id }, { scopes })).toMatchObject({ error: 'forbidden' });
    }
  });

  it('EDGE-AUTH-02 needs svc.edge.enroll and no other scope', async () => {
    expect(await issue({}, { scopes: ['svc.edge.enroll'] })).toHaveProperty('token');
    const scopes = everyEdgeScope.filter((scope) => scope !== 'svc.edge.enroll');
    expect(await issue({}, { scopes })).toMatchObject({ error: 'forbidden' });
  });

  it('answers 404 for a tenant that is not set up, and 503 where edge mode is off', async () => {
    expect(await issue({}, { tenant: 'nowhere' })).toMatchObject({ error: 'Tenant not found' });
    const off = edgeWorld([], { edge: undefined });
    expect(await off.call('issueEnrollmentToken', { body: {} })).toMatchObject({ code: 'unavailable' });
  });

  it('is audited without the token', async () => {
    const answer = (await issue()) as { token: string };
    expect(audited.at(-1)).toMatchObject({ type: 'EdgeEnrollmentTokenIssued', by: { subject: 'ada', tenant: 'acme' } });
    expect(JSON.stringify(audited)).not.toContain(answer.token);
  });
});
