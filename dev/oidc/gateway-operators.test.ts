import { generateKeyPairSync } from 'node:crypto';
import { importJWK, type JWTPayload, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chainLimitsOf, readGatewayConfig } from '../../gateway/config.ts';
import { createOperatorAuthentication, type OperatorAuthentication } from '../../gateway/identity/operator.ts';
import { contracts } from '../../gateway/routes/contracts.ts';
import { systemClock } from '../../lib/clock.ts';
import { ConfigError, type Environment } from '../../lib/config.ts';
import { issueToken } from '../../lib/envelope/token.ts';
import { defineRoute, json } from '../../lib/http/index.ts';
import { templateLimits } from '../../lib/template/limits.ts';
import { chainLimitsDefault } from '../../lib/tool-chain/limits.ts';
import { startTestServer } from '../../test/support/http-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type OidcServer, startOidc } from './server.ts';
import { makeSigningKeys } from './signing-keys.ts';
import { serviceAccountToken, userToken } from './sign-in.ts';

/** The operator lane of the gateway against a real provider, over HTTP, with a proxy between that counts and harms. */
const keys = await makeSigningKeys();
let proxy: FaultProxy;
let provider: OidcServer;
let opened: OperatorAuthentication[];
let nowMs: number;

beforeEach(async () => {
  opened = [];
  nowMs = 0;
  proxy = await startFaultProxy();
  provider = await startOidc({ issuer: proxy.url, keys });
  proxy.upstream = provider.port;
});
afterEach(async () => {
  await Promise.all(opened.map((authentication) => authentication.close()));
  await provider.close();
  await proxy.close();
});

const settings = (env: Environment = {}): Environment => ({
  WINDLASS_NATS_URL: 'nats://127.0.0.1:4222',
  SEAL_GATEWAY_OPERATOR_JWT_ISSUER: proxy.url,
  SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: 'windlass',
  OIDC_ALLOW_HTTP: 'true',
  ...env,
});

function open(env: Environment = {}): OperatorAuthentication {
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + nowMs,
    steadyMs: () => systemClock.steadyMs() + nowMs,
  };
  const deps = { clock, logger: silentLogger, readFile: () => '' };
  const made = createOperatorAuthentication(deps, readGatewayConfig(settings(env)));
  opened.push(made);
  return made;
}

const second = (): number => Math.floor((Date.now() + nowMs) / 1_000);

/** Signs with the provider's own newest key whatever it would never say. */
/** A token of the invocation lane. */
function sealed(key: { readonly issuer: string; readonly audience: string }): Promise<string> {
  const claims = { jti: 'j', scp: 'default', tenant_id: 'acme', iat: second(), exp: second() + 60 };
  return issueToken({ ...generateKeyPairSync('ed25519'), ...key }, claims);
}

async function forge(claims: JWTPayload = {}, header: object = {}): Promise<string> {
  const jwk = provider.keys[0] ?? {};
  const all = { iss: proxy.url, aud: 'windlass', sub: 'olga', svc_role: 'svc:operator', tenant_id: 'acme' };
  const times = { iat: second(), exp: second() + 600 };
  const signer = new SignJWT({ ...all, ...times, ...claims });
  signer.setProtectedHeader({ alg: jwk.alg ?? '', kid: jwk.kid, typ: 'at+jwt', ...header });
  return signer.sign(await importJWK(jwk, jwk.alg));
}

const who = (authentication: OperatorAuthentication, token: string) =>
  authentication.authenticate({ authorization: `Bearer ${token}` });
const olga = { name: 'olga', tenant: 'acme', roles: ['svc:operator'] };
/** spec 3 §7.1: bare, whatever is wrong. */
const bare = { code: 'unauthenticated', message: 'invalid token' };

describe('operators with tokens of a real provider', () => {
  it('GW-OP-02 GW-OP-06 GW-OP-09 GW-ENV-01 GW-ENV-02 are known by signature, issuer, audience and role', async () => {
    const authentication = open();
    expect(await who(authentication, await userToken(provider, olga))).toMatchObject({
      subject: 'olga',
      kind: 'consumer',
      tenant: 'acme',
      isAdmin: false,
    });
    const admin = await userToken(provider, { ...olga, roles: ['svc:admin'] });
    expect(await who(authentication, admin)).toMatchObject({ tenant: 'acme', isAdmin: true });
  });

  it('GW-OP-03 GW-ENV-06 fetch the keys once, for 300 seconds unless another time is set', async () => {
    expect(readGatewayConfig(settings()).SEAL_GATEWAY_JWKS_CACHE_TTL_SECS).toBe(300);
    const authentication = open();
    for (let times = 0; times < 20; times += 1) await who(authentication, await forge());
    expect(proxy.fetches).toBe(1);
    // From four fifths of the time on, a call sets off the next fetch and uses the keys at hand.
    nowMs = 235_000;
    await who(authentication, await forge());
    expect(proxy.fetches).toBe(1);
    nowMs = 299_000;
    await who(authentication, await forge());
    await expect.poll(() => proxy.fetches).toBe(2);
  });

  it('GW-ENV-06 takes the time that is set', async () => {
    const authentication = open({ SEAL_GATEWAY_JWKS_CACHE_TTL_SECS: '10' });
    await who(authentication, await forge());
    nowMs = 11_000;
    await who(authentication, await forge());
    await expect.poll(() => proxy.fetches).toBe(2);
  });

  it('GW-OP-04 AMB-121 are known at once by a key that was rotated, by one fetch more', async () => {
    const authentication = open();
    await who(authentication, await forge());
    await provider.rotate({ keepOld: false });
    const tokens = await Promise.all(Array.from({ length: 20 }, () => forge()));
    await Promise.all(tokens.map((token) => who(authentication, token)));
    expect(proxy.fetches).toBe(2);
  });

  it('GW-OP-04 AMB-121 cause one fetch and no storm by made-up key ids', async () => {
    const authentication = open();
    await who(authentication, await forge());
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, index) => forge({}, { kid: `made-up-${index}` })));
    const from = performance.now();
    await Promise.all(tokens.map((token) => who(authentication, token).catch(() => undefined)));
    expect(proxy.fetches - 1).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - from) / 1_000));
  });

  it.each<[string, JWTPayload]>([
    ['no role', { svc_role: undefined }],
    ['another role', { svc_role: 'svc:viewer' }],
    ['a role of another case', { svc_role: 'SVC:operator' }],
    ['a list without one of the two', { svc_role: ['svc:viewer'] }],
    ['a role that is an object', { svc_role: { name: 'svc:operator' } }],
  ])('GW-OP-05 AMB-122 are refused with 403 for %s', async (_title, claims) => {
    await expect(who(open(), await forge(claims))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it.each<[unknown, boolean]>([
    ['svc:operator', false],
    ['svc:admin', true],
    [['svc:viewer', 'svc:operator'], false],
    [['svc:admin'], true],
  ])('GW-OP-06 AMB-122 are taken with the role %j', async (role, isAdmin) => {
    expect(await who(open(), await forge({ svc_role: role }))).toMatchObject({ isAdmin });
  });

  it('GW-ENV-03 find the role in svc_role, or in the claim that is set and in no other', async () => {
    expect(readGatewayConfig(settings()).SEAL_GATEWAY_OPERATOR_ROLE_CLAIM).toBe('svc_role');
    const other = open({ SEAL_GATEWAY_OPERATOR_ROLE_CLAIM: 'ops_role' });
    await expect(who(other, await forge())).rejects.toMatchObject({ code: 'forbidden' });
    expect(await who(other, await forge({ svc_role: undefined, ops_role: 'svc:admin' }))).toMatchObject({
      isAdmin: true,
    });
  });

  it.each<[string, () => Promise<string>]>([
    ['another issuer', () => forge({ iss: 'https://id.example.com' })],
    ['GW-OP-07 GW-ENV-01 the issuer with a slash behind it', () => forge({ iss: `${proxy.url}/` })],
    ['GW-ENV-02 another audience', () => forge({ aud: 'windlass-tools' })],
    ['GW-ENV-02 a list without the audience', () => forge({ aud: ['a', 'b'] })],
    ['no audience', () => forge({ aud: undefined })],
    ['AMB-148 no subject', () => forge({ sub: undefined })],
    ['AMB-148 no end', () => forge({ exp: undefined })],
    ['an end that is over', () => forge({ exp: second() - 60 })],
    ['AMB-148 a beginning to come', () => forge({ nbf: second() + 600 })],
    ['no JWT', async () => 'token'],
    ['AMB-120 no signature', async () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`],
    ['a token of the invocation lane', () => sealed({ issuer: 'windlass', audience: 'windlass-tools' })],
    ['its key, for this issuer and audience', () => sealed({ issuer: proxy.url, audience: 'windlass' })],
    ['a changed signature', async () => `${(await forge()).slice(0, -8)}AAAAAAAA`],
  ])('GW-OP-08 are refused with a bare 401 for %s', async (_title, token) => {
    await expect(who(open(), await token())).rejects.toMatchObject(bare);
  });

  it('GW-OP-08 are refused with 401 without a token', async () => {
    for (const headers of [{}, { authorization: '' }, { authorization: 'Bearer ' }, { authorization: 'Basic eDp5' }])
      await expect(open().authenticate(headers)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('GW-ENV-02 are taken with a list that has the audience', async () => {
    expect(await who(open(), await forge({ aud: ['a', 'windlass'] }))).toMatchObject({ subject: 'olga' });
  });

  it('GW-OP-10 GW-OP-11 AMB-146 AMB-147 are service accounts by kind or by name, for the tenant of their claim', async () => {
    const kindOf = async (claims: JWTPayload) => who(open(), await forge({ tenant_id: 'other', ...claims }));
    for (const identity_kind of ['service_account', 'service-account'])
      expect(await kindOf({ identity_kind })).toMatchObject({ kind: 'service-account', tenant: 'other' });
    const named = { preferred_username: 'service-account-ci' };
    expect(await kindOf(named)).toMatchObject({ kind: 'service-account', tenant: 'other' });
    expect(await kindOf({ ...named, identity_kind: 'user' })).toMatchObject({ kind: 'consumer', tenant: 'other' });
    expect(await kindOf({ preferred_username: 'my-service-account-ci' })).toMatchObject({ kind: 'consumer' });
    const real = await serviceAccountToken(provider, { name: 'ci', tenant: 'own', roles: ['svc:operator'] });
    expect(await who(open(), real)).toMatchObject({ kind: 'service-account', tenant: 'own' });
  });

  it.each<[string, JWTPayload]>([
    ['no tenant', { tenant_id: undefined }],
    ['a tenant that is no slug', { tenant_id: 'Acme!' }],
    ['an empty tenant', { tenant_id: '' }],
    ['a list of tenants', { tenant_id: ['acme'] }],
  ])('GW-OP-09 are refused with 403 for %s', async (_title, claims) => {
    await expect(who(open(), await forge(claims))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('AMB-125 may have no tenant as svc:admin, and then one that is no slug is refused all the same', async () => {
    const admin = { svc_role: 'svc:admin' };
    expect(await who(open(), await forge({ ...admin, tenant_id: undefined }))).toMatchObject({ tenant: undefined });
    await expect(who(open(), await forge({ ...admin, tenant_id: 'Acme!' }))).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('learn that the provider is away, and not that their token is wrong', async () => {
    proxy.fault = 'error';
    await expect(who(open(), await forge())).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the routes of the control plane', () => {
  // The route for MCP of the lane takes tokens of sessions and signatures, and answers 401 without them (ADR 0081).
  const open_ = new Set(['/v1/invoke', '/v1/seal/invoke', '/v1/mcp']);

  it('GEN-11 begin with /v1, but for the health and the description', () => {
    const others = contracts.map(({ path }) => path).filter((path) => !path.startsWith('/v1/'));
    expect(others).toEqual(['/health']);
  });

  it('have those of security contexts', () => {
    const ofContexts = contracts.filter(({ path }) => path.startsWith('/v1/security-contexts'));
    expect(ofContexts.map(({ method }) => method).toSorted()).toEqual(['delete', 'get', 'get', 'post']);
  });

  it('GW-OP-01 GW-OP-08 ORCH-AUTH-05 ask for a bearer token, each of them but those of the invocation lane', async () => {
    const authentication = open();
    const routes = contracts.map((contract) =>
      defineRoute<never, never>(contract as never, (async () => json({})) as never),
    );
    const server = await startTestServer(routes as never, {
      authenticate: ((headers: never) => authentication.authenticate(headers)) as never,
    });
    try {
      for (const { method, path } of contracts.filter((contract) => contract.path.startsWith('/v1/'))) {
        const url = `${server.url}${path.replaceAll(/\{\w+\}/g, 'x')}`;
        for (const headers of [{}, { authorization: 'Bearer nonsense' }, { authorization: 'Basic b2xnYTp4' }]) {
          const { status } = await fetch(url, { method, headers });
          expect([method, path, status === 401]).toEqual([method, path, !open_.has(path)]);
        }
      }
    } finally {
      await server.close();
    }
  });
});

describe('settings of the gateway', () => {
  const problemsOf = (env: Environment): string => {
    try {
      readGatewayConfig(env);
      return 'none';
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  };

  it('bound calls of tool workflows, by default as the chain does', () => {
    expect(chainLimitsOf(readGatewayConfig(settings()))).toEqual(chainLimitsDefault);
    const names = ['STEPS', 'BODY_BYTES', 'RESPONSE_BYTES', 'STEP_SECONDS', 'SECONDS'];
    const env = (value: string) => Object.fromEntries(names.map((name) => [`WINDLASS_TOOL_WORKFLOW_${name}`, value]));
    const given = {
      ...env('20'),
      WINDLASS_TOOL_WORKFLOW_BODY_BYTES: '2048',
      WINDLASS_TOOL_WORKFLOW_RESPONSE_BYTES: '4096',
    };
    expect(chainLimitsOf(readGatewayConfig(settings(given)))).toEqual({
      steps: 20,
      bodyBytes: 2_048,
      responseBytes: 4_096,
      stepMs: 20_000,
      chainMs: 20_000,
    });
    for (const name of names) expect(problemsOf(settings(env('0')))).toContain(`WINDLASS_TOOL_WORKFLOW_${name}`);
    const most = templateLimits.renderedLength;
    const ofBody = (bytes: number) => problemsOf(settings({ WINDLASS_TOOL_WORKFLOW_BODY_BYTES: String(bytes) }));
    expect([most - 1, most].map(ofBody)).toEqual(['none', 'none']);
    expect(ofBody(most + 1)).toContain('WINDLASS_TOOL_WORKFLOW_BODY_BYTES');
    expect(problemsOf(settings({ WINDLASS_TOOL_WORKFLOW_STEPS: '65' }))).toContain('WINDLASS_TOOL_WORKFLOW_STEPS');
  });

  it('AMB-019 have the names of the port, of the keys and of the key of tokens', () => {
    const port = readGatewayConfig({ ...settings(), SEAL_GATEWAY_PORT: '9123' }).SEAL_GATEWAY_PORT;
    const keys = { SEAL_GATEWAY_OPERATOR_JWKS_URL: 'https://id.example.com/keys' };
    const pem = { SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM: '-----BEGIN PUBLIC KEY-----' };
    expect([port, readGatewayConfig({ ...settings(), ...keys, ...pem })]).toMatchObject([9_123, { ...keys, ...pem }]);
    expect(readGatewayConfig(settings()).SEAL_GATEWAY_PORT).toBe(8_090);
  });

  it('GW-ENV-01 GW-ENV-02 GW-ENV-07 need issuer and audience, and leave the bypass off', () => {
    const message = problemsOf({ WINDLASS_NATS_URL: 'nats://127.0.0.1:4222' });
    expect(message).toContain('SEAL_GATEWAY_OPERATOR_JWT_ISSUER');
    expect(message).toContain('SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE');
    expect(readGatewayConfig(settings()).SEAL_GATEWAY_AUTH_DISABLED).toBeUndefined();
  });
});
