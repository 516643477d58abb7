import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicClient } from './clients.ts';
import { type OidcServer, startOidc } from './server.ts';
import { approveDevice, serviceAccountToken, userToken } from './sign-in.ts';
import { tokenAlgorithms } from './signing-keys.ts';

let server: OidcServer;
beforeAll(async () => {
  server = await startOidc();
});
afterAll(() => server.close());

const post = async (path: string, form: Record<string, string>) => {
  const response = await fetch(`${server.issuer}${path}`, { method: 'POST', body: new URLSearchParams(form) });
  return (await response.json()) as Record<string, string>;
};

describe('a token of the development provider', () => {
  it('AMB-018 is a JWT with the claims of the person who signed in', async () => {
    const token = await userToken(server, { name: 'anna', tenant: 'acme', roles: ['svc:operator', 'other'] });
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', typ: 'at+jwt' });
    expect(decodeJwt(token)).toMatchObject({
      iss: server.issuer,
      aud: 'windlass',
      sub: 'anna',
      tenant_id: 'acme',
      svc_role: ['svc:operator', 'other'],
      preferred_username: 'anna',
    });
  });

  it.each([
    [{ name: 'bo' }, { sub: 'bo', preferred_username: 'bo' }],
    [{ name: 'bo', roles: ['svc:admin'] }, { svc_role: 'svc:admin' }],
    [
      { name: 'Bö & co?', tenant: 'a&b=c' },
      { sub: 'Bö & co?', tenant_id: 'a&b=c' },
    ],
    [
      { name: 'bo', kind: 'service_account', username: 'bot' },
      { identity_kind: 'service_account', preferred_username: 'bot' },
    ],
  ])('is made for %j', async (person, want) => {
    expect(decodeJwt(await userToken(server, person))).toMatchObject(want);
  });

  it('ORCH-AUTH-07 of client credentials is that of a service account', async () => {
    expect(decodeJwt(await serviceAccountToken(server, { name: 'ci', roles: ['svc:operator'] }))).toMatchObject({
      sub: 'ci',
      preferred_username: 'service-account-ci',
      svc_role: 'svc:operator',
    });
  });

  it('comes by the device flow once the person has agreed', async () => {
    const device = await post('/device/auth', { client_id: publicClient, scope: 'openid offline_access' });
    const poll = {
      client_id: publicClient,
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code ?? '',
    };
    expect(await post('/token', poll)).toMatchObject({ error: 'authorization_pending' });
    await approveDevice(device.verification_uri_complete ?? '', { name: 'anna', tenant: 'acme', roles: ['svc:admin'] });
    const { access_token, refresh_token } = await post('/token', poll);
    expect(decodeJwt(access_token ?? '')).toMatchObject({ sub: 'anna', tenant_id: 'acme', svc_role: 'svc:admin' });
    const refresh = { client_id: publicClient, grant_type: 'refresh_token', refresh_token: refresh_token ?? '' };
    expect(decodeJwt((await post('/token', refresh)).access_token ?? '')).toMatchObject({ sub: 'anna' });
  });

  it.each(tokenAlgorithms)('is signed with new keys and %s after a rotation', async (algorithm) => {
    const before = server.keys.map(({ kid }) => kid);
    await server.rotate({ algorithm });
    const { alg, kid } = decodeProtectedHeader(await userToken(server, { name: 'anna' }));
    expect(alg).toBe(algorithm);
    expect(before).not.toContain(kid);
    const { keys } = (await (await fetch(`${server.issuer}/jwks`)).json()) as { keys: { kid: string; d?: string }[] };
    expect(keys.map((key) => key.kid)).toEqual(expect.arrayContaining(before));
    expect(keys.every(({ d }) => d === undefined)).toBe(true);
  });
});
