import { type Static, Type } from 'typebox';
import { ConfigError, type ConfigProblem } from '../config.ts';
import { messageOf } from '../errors.ts';
import { defaultAlgorithms, type SignatureAlgorithm, signatureAlgorithms } from './algorithms.ts';
import type { OidcVerifierOptions } from './oidc-verifier.ts';
import { parseProviderAddress } from './provider-address.ts';
import { tenantSlugPattern } from '../tenant/names.ts';
import type { ClaimNames } from './identity.ts';
import { parseRoleScopes, roleScopesPattern } from './role-scopes.ts';
import type { ScopeRules } from './scope-call.ts';

const claim = (name: string) => Type.String({ minLength: 1, default: name });
const oneAlgorithm = `(${signatureAlgorithms.join('|')})`;

/** Environment variables that say whose tokens are accepted and what their claims mean (docs/identity.md, charts/windlass/README.md). */
export const identityVariables = {
  WINDLASS_OIDC_ISSUER: Type.String({ minLength: 1 }),
  WINDLASS_OIDC_AUDIENCE: Type.String({ minLength: 1, default: 'windlass' }),
  WINDLASS_OIDC_JWKS_URL: Type.Optional(Type.String({ minLength: 1 })),
  WINDLASS_OIDC_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
  OIDC_ALLOW_HTTP: Type.Boolean({ default: false }),
  /** The public client at the provider, and its scopes: the API gives both to `windlass login`. */
  WINDLASS_OIDC_CLIENT_ID: Type.String({ minLength: 1, default: 'windlass-cli' }),
  WINDLASS_OIDC_CLIENT_SCOPES: Type.String({ minLength: 1, default: 'openid offline_access' }),
  WINDLASS_OIDC_ALGORITHMS: Type.String({
    pattern: `^${oneAlgorithm}(,${oneAlgorithm})*$`,
    default: defaultAlgorithms.join(','),
  }),
  WINDLASS_OIDC_JWKS_TTL_SECONDS: Type.Integer({ minimum: 10, maximum: 86_400, default: 300 }),
  WINDLASS_OIDC_JWKS_GRACE_SECONDS: Type.Integer({ minimum: 0, maximum: 86_400, default: 3_600 }),
  WINDLASS_OIDC_TENANT_CLAIM: claim('tenant_id'),
  WINDLASS_OIDC_ROLE_CLAIM: claim('svc_role'),
  /** Tenants of the teams of a person (spec 2 §5): a list of `<tenant>`, `<tenant>:admin`, or `{tenant_id, role}`. */
  WINDLASS_OIDC_TEAM_CLAIM: claim('team_memberships'),
  /** Scopes of a role of the provider: `fleet-operator=svc.edge.fleet.read,svc.edge.fleet.manage;…`. */
  WINDLASS_OIDC_ROLE_SCOPES: Type.String({ pattern: roleScopesPattern, maxLength: 16_384, default: '' }),
  WINDLASS_OIDC_KIND_CLAIM: claim('identity_kind'),
  WINDLASS_OIDC_USERNAME_CLAIM: claim('preferred_username'),
  WINDLASS_OIDC_SERVICE_ACCOUNT_PREFIX: Type.String({ minLength: 1, default: 'service-account-' }),
  WINDLASS_OIDC_SERVICE_ACCOUNT_BY_USERNAME: Type.Boolean({ default: true }),
  WINDLASS_SYSTEM_TENANT: Type.String({ pattern: tenantSlugPattern, default: 'system' }),
  WINDLASS_OPERATORS_ONLY: Type.Boolean({ default: false }),
};

export const IdentityConfig = Type.Object(identityVariables);
export type IdentityConfig = Readonly<Static<typeof IdentityConfig>>;

interface IdentityOptions {
  /** Without `ca`, which is in a file. */
  readonly verifier: Omit<OidcVerifierOptions, 'ca'>;
  readonly claims: ClaimNames;
  readonly rules: ScopeRules;
}

/** Configuration from the environment. @throws ConfigError where an address is not to be trusted. */
export function identityOptions(config: IdentityConfig): IdentityOptions {
  checkAddresses(config);
  return {
    verifier: {
      issuer: config.WINDLASS_OIDC_ISSUER,
      audience: config.WINDLASS_OIDC_AUDIENCE,
      jwksUrl: config.WINDLASS_OIDC_JWKS_URL,
      allowHttp: config.OIDC_ALLOW_HTTP,
      algorithms: config.WINDLASS_OIDC_ALGORITHMS.split(',') as SignatureAlgorithm[],
      ttlMs: config.WINDLASS_OIDC_JWKS_TTL_SECONDS * 1_000,
      graceMs: config.WINDLASS_OIDC_JWKS_GRACE_SECONDS * 1_000,
    },
    claims: {
      tenantClaim: config.WINDLASS_OIDC_TENANT_CLAIM,
      roleClaim: config.WINDLASS_OIDC_ROLE_CLAIM,
      teamClaim: config.WINDLASS_OIDC_TEAM_CLAIM,
      roleScopes: parseRoleScopes(config.WINDLASS_OIDC_ROLE_SCOPES),
      kindClaim: config.WINDLASS_OIDC_KIND_CLAIM,
      usernameClaim: config.WINDLASS_OIDC_USERNAME_CLAIM,
      usernamePrefix: config.WINDLASS_OIDC_SERVICE_ACCOUNT_BY_USERNAME
        ? config.WINDLASS_OIDC_SERVICE_ACCOUNT_PREFIX
        : undefined,
    },
    rules: { systemTenant: config.WINDLASS_SYSTEM_TENANT, operatorsOnly: config.WINDLASS_OPERATORS_ONLY },
  };
}

function checkAddresses(config: IdentityConfig): void {
  const problems: ConfigProblem[] = [];
  for (const name of ['WINDLASS_OIDC_ISSUER', 'WINDLASS_OIDC_JWKS_URL'] as const) {
    const address = config[name];
    if (address === undefined) continue;
    try {
      parseProviderAddress(address, config.OIDC_ALLOW_HTTP);
    } catch (error) {
      problems.push({ name, problem: messageOf(error) });
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
}
