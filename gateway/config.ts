import { type Static, Type } from 'typebox';
import { oneOf } from '../crds/schema/parts.ts';
import { auditKeyVariables } from '../lib/audit-chain/index.ts';
import { busVariables } from '../lib/bus/index.ts';
import { ConfigError, type ConfigProblem, type Environment, parseConfig } from '../lib/config.ts';
import { sealTokenVariables } from '../lib/envelope/index.ts';
import { identityVariables } from '../lib/identity/index.ts';
import { nodeConfigVariables } from '../lib/node-config/index.ts';
import { logLevels } from '../lib/logger.ts';
import { templateLimits } from '../lib/template/limits.ts';
import { type ChainLimits, chainLimitsDefault, toolWorkflowLimits } from '../lib/tool-chain/limits.ts';

const text = (longest = 2_048) => Type.Optional(Type.String({ minLength: 1, maxLength: longest }));

const bound = (value: number, minimum: number, maximum: number) => Type.Integer({ minimum, maximum, default: value });

/** The environment variables of the gateway (docs/gateway.md, charts/windlass/README.md). */
export const GatewayConfig = Type.Object({
  WINDLASS_LOG_LEVEL: oneOf(logLevels, { default: 'info' }),
  /** Requirements AMB-019. */
  SEAL_GATEWAY_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8_090 }),
  SEAL_GATEWAY_INTERNAL_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8_091 }),
  /** Address that both listeners bind to; unset: all. */
  WINDLASS_HTTP_HOST: Type.Optional(Type.String({ minLength: 1 })),
  /** Requests a tenant may send to one replica each second, averaged over ten; 0: any number. */
  WINDLASS_RATE_LIMIT_PER_SECOND: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
  /** Bounds of one call of a tool workflow (ADR 0061): steps, bytes of a body and of a response, and times. */
  WINDLASS_TOOL_WORKFLOW_STEPS: bound(chainLimitsDefault.steps, 1, toolWorkflowLimits.steps),
  WINDLASS_TOOL_WORKFLOW_BODY_BYTES: bound(chainLimitsDefault.bodyBytes, 1_024, templateLimits.renderedLength),
  WINDLASS_TOOL_WORKFLOW_RESPONSE_BYTES: bound(chainLimitsDefault.responseBytes, 1_024, 64 * 1_024 * 1_024),
  WINDLASS_TOOL_WORKFLOW_STEP_SECONDS: bound(chainLimitsDefault.stepMs / 1_000, 1, 600),
  WINDLASS_TOOL_WORKFLOW_SECONDS: bound(chainLimitsDefault.chainMs / 1_000, 1, 600),
  /** How long a stopping replica still takes requests, until load balancers know that it is not ready. */
  WINDLASS_DRAIN_SECONDS: Type.Integer({ minimum: 0, maximum: 15, default: 3 }),
  /** How long calls under way may take after the signal to stop, the drain included. */
  WINDLASS_GRACE_SECONDS: Type.Integer({ minimum: 20, maximum: 890, default: 320 }),
  /** Namespace of the release: that of the system tenant, and of the API's public keys. */
  WINDLASS_SYSTEM_NAMESPACE: Type.String({ minLength: 1, default: 'windlass-system' }),
  /** spec 3 §2.1. Both are required unless the development bypass is on. */
  SEAL_GATEWAY_OPERATOR_JWT_ISSUER: text(),
  SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: text(),
  SEAL_GATEWAY_OPERATOR_ROLE_CLAIM: Type.String({ minLength: 1, maxLength: 253, default: 'svc_role' }),
  /** Unset: the address that the issuer's metadata names. */
  SEAL_GATEWAY_OPERATOR_JWKS_URL: text(),
  /** spec 3 §5.1. */
  SEAL_GATEWAY_JWKS_CACHE_TTL_SECS: Type.Integer({ minimum: 1, maximum: 86_400, default: 300 }),
  /** A SubjectPublicKeyInfo PEM (spec 3 §2.2); unset: the public half of the API's key, from its ConfigMap. */
  SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM: text(16_384),
  /** spec 3 §5.3: the bypass is on for the text `true` and for no other. */
  SEAL_GATEWAY_AUTH_DISABLED: text(),
  /** The text `true` lets the bypass listen beyond loopback addresses. */
  SEAL_GATEWAY_AUTH_DISABLED_FORCE: text(),
  ...auditKeyVariables,
  ...sealTokenVariables,
  ...busVariables,
  ...nodeConfigVariables,
  OIDC_ALLOW_HTTP: identityVariables.OIDC_ALLOW_HTTP,
  WINDLASS_OIDC_CA_FILE: identityVariables.WINDLASS_OIDC_CA_FILE,
  WINDLASS_OIDC_ALGORITHMS: identityVariables.WINDLASS_OIDC_ALGORITHMS,
  WINDLASS_OIDC_JWKS_GRACE_SECONDS: identityVariables.WINDLASS_OIDC_JWKS_GRACE_SECONDS,
  WINDLASS_OIDC_ROLE_SCOPES: identityVariables.WINDLASS_OIDC_ROLE_SCOPES,
  WINDLASS_SYSTEM_TENANT: identityVariables.WINDLASS_SYSTEM_TENANT,
});
export type GatewayConfig = Readonly<Static<typeof GatewayConfig>>;

/** Bounds of one call of a tool workflow. */
export const chainLimitsOf = (config: GatewayConfig): ChainLimits => ({
  steps: config.WINDLASS_TOOL_WORKFLOW_STEPS,
  bodyBytes: config.WINDLASS_TOOL_WORKFLOW_BODY_BYTES,
  responseBytes: config.WINDLASS_TOOL_WORKFLOW_RESPONSE_BYTES,
  stepMs: config.WINDLASS_TOOL_WORKFLOW_STEP_SECONDS * 1_000,
  chainMs: config.WINDLASS_TOOL_WORKFLOW_SECONDS * 1_000,
});

/** Whether both lanes are open to everybody. */
export const isBypass = ({ SEAL_GATEWAY_AUTH_DISABLED: value }: GatewayConfig): boolean => value === 'true';

/**
 * The settings of the gateway.
 * @throws ConfigError that lists every problem: one of them is a bypass that others could reach.
 */
export function readGatewayConfig(env: Environment): GatewayConfig {
  const config = parseConfig(GatewayConfig, env);
  const problems = [...missing(config), ...openBypass(config)];
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

function missing(config: GatewayConfig): ConfigProblem[] {
  const problem = (name: string, why: string): ConfigProblem => ({ name, problem: `is not set; ${why}` });
  const bus = config.WINDLASS_NATS_URL === undefined;
  const absent = bus ? [problem('WINDLASS_NATS_URL', 'sessions and audit events are kept in NATS')] : [];
  if (isBypass(config)) return absent;
  const operator = ['SEAL_GATEWAY_OPERATOR_JWT_ISSUER', 'SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE'] as const;
  const unset = operator.filter((name) => config[name] === undefined);
  return [...absent, ...unset.map((name) => problem(name, 'operators prove by it who they are'))];
}

const loopback: ReadonlySet<string | undefined> = new Set(['127.0.0.1', '::1', 'localhost']);

function openBypass(config: GatewayConfig): ConfigProblem[] {
  if (!isBypass(config) || loopback.has(config.WINDLASS_HTTP_HOST)) return [];
  if (config.SEAL_GATEWAY_AUTH_DISABLED_FORCE === 'true') return [];
  const problem =
    'opens both lanes to everybody, so WINDLASS_HTTP_HOST must be 127.0.0.1, ::1 or localhost, ' +
    'unless SEAL_GATEWAY_AUTH_DISABLED_FORCE=true';
  return [{ name: 'SEAL_GATEWAY_AUTH_DISABLED', problem }];
}
