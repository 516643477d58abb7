import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { ConfigError } from '../../lib/config.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import {
  bearerToken,
  claimAt,
  type ClaimNames,
  type TokenClaims,
  createOidcVerifier,
  type Identity,
  isOperator,
  parseRoleScopes,
  type OidcVerifierOptions,
  readIdentity,
  type SignatureAlgorithm,
} from '../../lib/identity/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { fleetScope } from '../../lib/tools/fleet-rights.ts';
import { type GatewayConfig, isBypass } from '../config.ts';

/** The user of the control plane, after the token was checked (spec 3 §2.1, §5.1, §5.4). */
export interface Operator {
  /** Claim `sub`. */
  readonly subject: string;
  readonly kind: 'consumer' | 'service-account';
  /** Slug. Undefined for an `svc:admin` whose token names none, and in the bypass: then shared objects alone. */
  readonly tenant: string | undefined;
  /** Whether shared objects may be written. */
  readonly isAdmin: boolean;
  /** Scopes that the roles of the token give, such as `svc.edge.fleet.manage` (ADR 0072). */
  readonly scopes: readonly string[];
  /** When the token ends, in milliseconds since the Unix epoch. */
  readonly until: number;
}

/** Tells who sends a request of the control plane. */
export interface OperatorAuthentication {
  /**
   * @throws HttpError 401 without a valid token, 403 for a role or tenant that is missing or wrong; AppError
   * `unavailable` while the provider's keys cannot be had.
   */
  authenticate(headers: IncomingHttpHeaders): Promise<Operator>;
  /** Fetches the provider's keys until they are there or `signal` aborts. Never rejects. */
  prepare(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface OperatorDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readFile: (path: string) => string;
}

/** spec 3 §5.3: a tenant is absent, the kind is consumer, and no slug is invented. */
export const bypassOperator: Operator = {
  subject: 'anonymous',
  kind: 'consumer',
  tenant: undefined,
  isAdmin: true,
  scopes: [fleetScope],
  until: Number.POSITIVE_INFINITY,
};

/** @throws ConfigError that names the variable. */
export function createOperatorAuthentication(deps: OperatorDeps, config: GatewayConfig): OperatorAuthentication {
  if (isBypass(config)) {
    return { authenticate: async () => bypassOperator, prepare: async () => undefined, close: async () => undefined };
  }
  const roleClaim = config.SEAL_GATEWAY_OPERATOR_ROLE_CLAIM;
  const roleScopes = parseRoleScopes(config.WINDLASS_OIDC_ROLE_SCOPES);
  const read = (claims: TokenClaims): Bearer => readBearer(claims, { ...claimNames, roleClaim, roleScopes });
  const verifier = verifierOf({ ...deps, read }, config);
  return {
    async authenticate({ authorization }) {
      const token = bearerToken(authorization);
      return operatorOf(await verifier.verify(token).catch(refuseToken), roleClaim);
    },
    prepare: (signal) => verifier.prepare(signal),
    close: () => verifier.close(),
  };
}

/** A token whose signature, issuer, audience and times are right. */
interface Bearer extends Identity {
  /** The claim is there, which says nothing of whether it is a slug. */
  readonly namesTenant: boolean;
}

const claimNames = {
  tenantClaim: 'tenant_id',
  kindClaim: 'identity_kind',
  usernameClaim: 'preferred_username',
  usernamePrefix: 'service-account-',
  teamClaim: 'teams',
} as const;

function readBearer(claims: TokenClaims, names: ClaimNames): Bearer {
  const named = claimAt(claims, names.tenantClaim);
  return { ...readIdentity(claims, names), namesTenant: named !== undefined && named !== null };
}

function operatorOf(bearer: Bearer, roleClaim: string): Operator {
  const { subject, tenant, roles, scopes, until } = bearer;
  if (!isOperator(bearer)) throw forbidden(`the claim ${roleClaim} must be svc:operator or svc:admin`);
  const isAdmin = roles.includes('svc:admin');
  if (tenant === undefined && (bearer.namesTenant || !isAdmin))
    throw forbidden('the claim tenant_id must be the slug of a tenant');
  const kind = bearer.kind === 'service-account' ? bearer.kind : 'consumer';
  return { subject, kind, tenant, isAdmin, scopes, until };
}

/** spec 3 §7.1: a bare text for whatever is wrong with the token. */
function refuseToken(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
  throw new HttpError({ code: 'unauthenticated', error: 'invalid token', message: 'invalid token' });
}

const forbidden = (message: string): HttpError => new HttpError({ code: 'forbidden', message });

type VerifierDeps = OperatorDeps & { readonly read: (claims: TokenClaims) => Bearer };

function verifierOf(deps: VerifierDeps, config: GatewayConfig) {
  const options: OidcVerifierOptions = {
    issuer: config.SEAL_GATEWAY_OPERATOR_JWT_ISSUER ?? '',
    audience: config.SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE ?? '',
    jwksUrl: config.SEAL_GATEWAY_OPERATOR_JWKS_URL,
    allowHttp: config.OIDC_ALLOW_HTTP,
    algorithms: config.WINDLASS_OIDC_ALGORITHMS.split(',') as SignatureAlgorithm[],
    ttlMs: config.SEAL_GATEWAY_JWKS_CACHE_TTL_SECS * 1_000,
    graceMs: config.WINDLASS_OIDC_JWKS_GRACE_SECONDS * 1_000,
    ca: certificates(deps, config.WINDLASS_OIDC_CA_FILE),
  };
  try {
    return createOidcVerifier(deps, options);
  } catch (error) {
    const name = options.jwksUrl === undefined ? 'SEAL_GATEWAY_OPERATOR_JWT_ISSUER' : 'SEAL_GATEWAY_OPERATOR_JWKS_URL';
    throw new ConfigError([{ name, problem: messageOf(error) }]);
  }
}

function certificates({ readFile }: OperatorDeps, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFile(file);
  } catch (error) {
    throw new ConfigError([{ name: 'WINDLASS_OIDC_CA_FILE', problem: `cannot be read: ${messageOf(error)}` }]);
  }
}
