import { decodeJwt, importJWK, type JWTPayload, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { type Environment, parseConfig } from '../../lib/config.ts';
import { IdentityConfig } from '../../lib/identity/config.ts';
import { type Authentication, createAuthentication } from '../../lib/identity/index.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { type FaultProxy, type KeysFault, startFaultProxy } from './fault-proxy.ts';
import { type OidcServer, startOidc } from './server.ts';
import { makeSigningKeys } from './signing-keys.ts';
import { serviceAccountToken, userToken } from './sign-in.ts';

/** The real verifier of the API against a real provider, over HTTP, with a proxy between that counts and harms. */
const keys = await makeSigningKeys();
let proxy: FaultProxy;
let provider: OidcServer;
let opened: Authentication[];

beforeEach(async () => {
  opened = [];
  proxy = await startFaultProxy();
  provider = await startOidc({ issuer: proxy.url, keys });
  proxy.upstream = provider.port;
});
afterEach(async () => {
  await Promise.all(opened.map((authentication) => authentication.close()));
  await provider.close();
  await proxy.close();
});

function open(env: Environment = {}, offsetMs: { now: number } = { now: 0 }): Authentication {
  const settings = { WINDLASS_OIDC_ISSUER: proxy.url, OIDC_ALLOW_HTTP: 'true', ...env };
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + offsetMs.now,
    steadyMs: () => systemClock.steadyMs() + offsetMs.now,
  };
  const made = createAuthentication({ clock, logger: silentLogger }, parseConfig(IdentityConfig, settings));
  opened.push(made);
  return made;
}

const who = (authentication: Authentication, token: string, headers: Record<string, string> = {}) =>
  authentication.authenticate({ authorization: `Bearer ${token}`, ...headers });

/** Signs with the provider's own newest key whatever it would never say. */
async function forge(claims: JWTPayload): Promise<string> {
  const jwk = provider.keys[0] ?? {};
  const signer = new SignJWT(claims).setProtectedHeader({ alg: jwk.alg ?? '', kid: jwk.kid, typ: 'at+jwt' });
  return signer.sign(await importJWK(jwk, jwk.alg));
}

const anna = { name: 'anna', tenant: 'acme' };
const refused = { code: 'unauthenticated', message: 'unauthorized' };
const second = (): number => Math.floor(Date.now() / 1_000);

describe('callers with tokens of a real provider', () => {
  it('ORCH-AUTH-01 AMB-018 are known, and the keys fetched once', async () => {
    const authentication = open();
    const tokens = await Promise.all(['a', 'b', 'c'].map((name) => userToken(provider, { ...anna, name })));
    const callers = await Promise.all([...tokens, ...tokens].map((token) => who(authentication, token)));
    expect(callers.map(({ subject }) => subject)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    expect(callers[0]).toMatchObject({ subject: 'a', kind: 'consumer', tenant: 'acme', roles: [], scopes: [] });
    expect(proxy.fetches).toBe(1);
  });

  it('ORCH-AUTH-07 ORCH-AUTH-08 that are service accounts work for the tenant they name, else the system', async () => {
    const authentication = open();
    const token = await serviceAccountToken(provider, { name: 'ci', tenant: 'own' });
    expect(await who(authentication, token)).toMatchObject({ kind: 'service-account', tenant: 'system' });
    expect(await who(authentication, token, { 'x-tenant-id': 'acme' })).toMatchObject({ tenant: 'acme' });
    await expect(who(authentication, token, { 'x-tenant-id': 'Acme!' })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('ORCH-AUTH-09 that are users stay in their tenant, whatever they name', async () => {
    const authentication = open();
    const token = await userToken(provider, anna);
    const without = await who(authentication, token);
    for (const named of ['other', 'Acme!', '']) {
      expect(await who(authentication, token, { 'x-tenant-id': named })).toEqual(without);
    }
  });

  it('AMB-149 that are users without a tenant are refused with 403', async () => {
    await expect(who(open(), await userToken(provider, { name: 'anna' }))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it.each(['RS256', 'ES256', 'EdDSA'] as const)('AMB-148 are known by a signature with %s', async (algorithm) => {
    await provider.rotate({ algorithm });
    expect(await who(open(), await userToken(provider, anna))).toMatchObject({ subject: 'anna' });
  });

  it.each<[string, (claims: JWTPayload) => JWTPayload]>([
    ['without iss', (claims) => ({ ...claims, iss: undefined })],
    ['with another iss', (claims) => ({ ...claims, iss: `${claims.iss}/` })],
    ['without aud', (claims) => ({ ...claims, aud: undefined })],
    ['with another aud', (claims) => ({ ...claims, aud: 'other' })],
    ['without sub', (claims) => ({ ...claims, sub: undefined })],
    ['without exp', (claims) => ({ ...claims, exp: undefined })],
    ['that has expired', (claims) => ({ ...claims, exp: second() - 6 })],
    ['that is not valid yet', (claims) => ({ ...claims, nbf: second() + 60 })],
    ['that is an ID token of Keycloak', (claims) => ({ ...claims, typ: 'ID' })],
    ['with the hash of an access token', (claims) => ({ ...claims, at_hash: 'c29tZQ' })],
    ['that is bound to a key', (claims) => ({ ...claims, cnf: { jkt: 'c29tZQ' } })],
  ])('AMB-148 are refused with a token %s', async (_, change) => {
    const authentication = open();
    const claims = decodeJwt(await userToken(provider, anna));
    expect(await who(authentication, await forge(claims))).toMatchObject({ subject: 'anna' });
    await expect(who(authentication, await forge(change(claims)))).rejects.toMatchObject(refused);
  });

  it('AMB-148 are refused with the token of another provider', async () => {
    const other = await startOidc();
    const token = await userToken(other, anna);
    await other.close();
    await expect(who(open(), token)).rejects.toMatchObject(refused);
  });

  it('ORCH-AUTH-01 are refused with another scheme, or nothing', async () => {
    const authentication = open();
    const token = await userToken(provider, anna);
    for (const authorization of [undefined, token, `Basic ${token}`, `Bearer ${token}, Bearer ${token}`]) {
      await expect(authentication.authenticate({ authorization })).rejects.toMatchObject({ code: 'unauthenticated' });
    }
  });

  it('are not known any more once their token has expired', async () => {
    const clock = { now: 0 };
    const authentication = open({}, clock);
    const token = await userToken(provider, anna);
    expect(await who(authentication, token)).toMatchObject({ subject: 'anna' });
    clock.now = 3_610_000;
    await expect(who(authentication, token)).rejects.toMatchObject(refused);
  });
});

describe('a provider that changes its keys', () => {
  it('AMB-121 is asked once more for all who come with the new one', async () => {
    const authentication = open();
    const before = await userToken(provider, anna);
    await who(authentication, before);
    await provider.rotate();
    const after = await userToken(provider, anna);
    const callers = await Promise.all(Array.from({ length: 20 }, () => who(authentication, after)));
    expect(callers).toHaveLength(20);
    expect(proxy.fetches).toBe(2);
    expect(await who(authentication, before)).toMatchObject({ subject: 'anna' });
    expect(proxy.fetches).toBe(2);
  });

  it('AMB-121 is asked once for a key that does not exist, however often it is named', async () => {
    const authentication = open();
    const token = await userToken(provider, anna);
    await who(authentication, token);
    const [, payload, signature] = token.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'bogus' })).toString('base64url');
    const bogus = `${header}.${payload}.${signature}`;
    const attempts = Array.from({ length: 50 }, () => who(authentication, bogus).catch((error: unknown) => error));
    for (const error of await Promise.all(attempts)) expect(error).toMatchObject(refused);
    for (let turn = 0; turn < 5; turn++) await expect(who(authentication, bogus)).rejects.toMatchObject(refused);
    expect(proxy.fetches).toBe(2);
  });

  it('has its old tokens refused when it drops the keys and the TTL is over', async () => {
    const clock = { now: 0 };
    const authentication = open({}, clock);
    const token = await userToken(provider, anna);
    await who(authentication, token);
    await provider.rotate({ keepOld: false });
    expect(await who(authentication, token)).toMatchObject({ subject: 'anna' });
    clock.now = 300_000;
    await expect(who(authentication, token)).rejects.toMatchObject(refused);
  });
});

describe('a provider in trouble', () => {
  const troubles: KeysFault[] = ['refused', 'broken', 'huge', 'error'];

  it.each(troubles)(
    'answers its keys as %s: the first caller is asked to come again, and is known later',
    async (fault) => {
      const clock = { now: 0 };
      const authentication = open({}, clock);
      const token = await userToken(provider, anna);
      proxy.fault = fault;
      await expect(who(authentication, token)).rejects.toMatchObject({ code: 'unavailable' });
      proxy.fault = 'none';
      clock.now = 1_000;
      expect(await who(authentication, token)).toMatchObject({ subject: 'anna' });
    },
  );

  it.each(troubles)('answers its keys as %s: known callers stay so for the grace, and no longer', async (fault) => {
    const clock = { now: 0 };
    const authentication = open({ WINDLASS_OIDC_JWKS_GRACE_SECONDS: '60' }, clock);
    const [known, later] = await Promise.all([userToken(provider, anna), userToken(provider, anna)]);
    await who(authentication, known);
    proxy.fault = fault;
    clock.now = 359_000;
    expect(await who(authentication, known)).toMatchObject({ subject: 'anna' });
    expect(await who(authentication, later)).toMatchObject({ subject: 'anna' });
    clock.now = 361_000;
    await expect(who(authentication, known)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that is slow is waited for, by everybody together', async () => {
    proxy.fault = 'slow';
    const authentication = open();
    const token = await userToken(provider, anna);
    const callers = await Promise.all(Array.from({ length: 20 }, () => who(authentication, token)));
    expect(callers).toHaveLength(20);
    expect(proxy.fetches).toBe(1);
  });

  it('that says nothing is given up after 5 s', async () => {
    proxy.fault = 'silent';
    const started = performance.now();
    await expect(who(open(), await userToken(provider, anna))).rejects.toMatchObject({ code: 'unavailable' });
    expect(performance.now() - started).toBeLessThan(7_000);
  });

  it('that publishes no key has its tokens refused', async () => {
    proxy.fault = 'empty';
    await expect(who(open(), await userToken(provider, anna))).rejects.toMatchObject(refused);
  });

  it('that is not there at all knows no caller', async () => {
    const token = await userToken(provider, anna);
    await provider.close();
    await expect(who(open(), token)).rejects.toMatchObject({ code: 'unavailable' });
    provider = await startOidc({ issuer: proxy.url, keys });
  });
});
