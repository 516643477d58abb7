import { describe, expect, it } from 'vitest';
import { type Environment, parseConfig } from '../config.ts';
import { IdentityConfig, identityOptions } from './config.ts';

const issuer = 'https://id.example.com';
const options = (env: Environment = {}) =>
  identityOptions(parseConfig(IdentityConfig, { WINDLASS_OIDC_ISSUER: issuer, ...env }));

describe('the configuration of identity', () => {
  it('AMB-148 needs an issuer and nothing else', () => {
    expect(options()).toEqual({
      verifier: {
        issuer,
        audience: 'windlass',
        jwksUrl: undefined,
        allowHttp: false,
        algorithms: ['RS256', 'ES256', 'EdDSA'],
        ttlMs: 300_000,
        graceMs: 3_600_000,
      },
      claims: {
        tenantClaim: 'tenant_id',
        roleClaim: 'svc_role',
        teamClaim: 'team_memberships',
        roleScopes: new Map(),
        kindClaim: 'identity_kind',
        usernameClaim: 'preferred_username',
        usernamePrefix: 'service-account-',
      },
      rules: { systemTenant: 'system', operatorsOnly: false },
    });
    expect(() => parseConfig(IdentityConfig, {})).toThrow('WINDLASS_OIDC_ISSUER: is not set');
  });

  it('AMB-146 can leave usernames out of it', () => {
    expect(options({ WINDLASS_OIDC_SERVICE_ACCOUNT_BY_USERNAME: 'false' }).claims.usernamePrefix).toBeUndefined();
    expect(options({ WINDLASS_OIDC_SERVICE_ACCOUNT_PREFIX: 'bot-' }).claims.usernamePrefix).toBe('bot-');
  });

  it.each(['RS256', 'ES512,PS256', 'EdDSA'])('AMB-120 accepts the algorithms %s', (text) => {
    expect(options({ WINDLASS_OIDC_ALGORITHMS: text }).verifier.algorithms).toEqual(text.split(','));
  });

  it.each(['none', 'HS256', 'RS256,HS256', 'RS256,none', 'rs256', 'RS256,', 'RS256 ES256'])(
    'AMB-120 refuses the algorithms %j',
    (text) => {
      expect(() => options({ WINDLASS_OIDC_ALGORITHMS: text })).toThrow('WINDLASS_OIDC_ALGORITHMS: must be text');
    },
  );

  it.each([
    ['http://id.example.com', 'true'],
    ['http://localhost:4000', 'false'],
    ['localhost', 'true'],
  ])('AMB-151 refuses the address %s with OIDC_ALLOW_HTTP=%s, and names every variable', (address, allow) => {
    const env = { WINDLASS_OIDC_ISSUER: address, WINDLASS_OIDC_JWKS_URL: address, OIDC_ALLOW_HTTP: allow };
    expect(() => options(env)).toThrow(/WINDLASS_OIDC_ISSUER: must .*\n.*WINDLASS_OIDC_JWKS_URL: must /);
  });

  it('AMB-151 accepts a loopback address with OIDC_ALLOW_HTTP=true', () => {
    const env = { WINDLASS_OIDC_ISSUER: 'http://localhost:4000', OIDC_ALLOW_HTTP: 'true' };
    expect(options(env).verifier).toMatchObject({ issuer: 'http://localhost:4000', allowHttp: true });
  });
});
