import { type Static, Type } from 'typebox';
import { oneOf } from '../crds/schema/parts.ts';
import { busVariables } from '../lib/bus/index.ts';
import { edgeLimits } from '../lib/edge/limits.ts';
import { ConfigError, type ConfigProblem, type Environment, parseConfig } from '../lib/config.ts';
import { messageOf } from '../lib/errors.ts';
import { identityVariables } from '../lib/identity/index.ts';
import { logLevels } from '../lib/logger.ts';
import { readProxies } from './rpc/trusted-proxies.ts';

const file = Type.Optional(Type.String({ minLength: 1 }));

/** The environment variables of the relay. */
export const RelayConfig = Type.Object({
  WINDLASS_LOG_LEVEL: oneOf(logLevels, { default: 'info' }),
  /** spec 2 §1. */
  WINDLASS_RELAY_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 50_056 }),
  WINDLASS_RELAY_INTERNAL_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 50_057 }),
  WINDLASS_HTTP_HOST: Type.Optional(Type.String({ minLength: 1 })),
  /** spec 2 §5: a Worker serves no edge method. */
  WINDLASS_NODE_ROLE: oneOf(['Controller', 'Hybrid', 'RelayCoordinator', 'Worker'], { default: 'RelayCoordinator' }),
  /** File with a private Ed25519 key as PEM (PKCS #8), the same for all replicas. */
  WINDLASS_RELAY_KEY: Type.String({ minLength: 1 }),
  /** Both, or HTTP/2 cleartext for an ingress that ends TLS. */
  WINDLASS_RELAY_TLS_CERT_FILE: file,
  WINDLASS_RELAY_TLS_KEY_FILE: file,
  /** Addresses and networks of proxies, with commas between them, whose `x-forwarded-for` counts. */
  WINDLASS_RELAY_TRUSTED_PROXIES: Type.String({ maxLength: 4_096, default: '' }),
  /** requirements AMB-112. */
  WINDLASS_NODE_TOKEN_SECONDS: Type.Integer({ minimum: 60, maximum: 30 * 86_400, default: 86_400 }),
  WINDLASS_KEY_OVERLAP_SECONDS: Type.Integer({ minimum: 0, maximum: 86_400, default: 300 }),
  /** spec 2 §8: `cluster.heartbeat_interval_secs`, how often a daemon says that it lives. */
  WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS: Type.Integer({
    minimum: 1,
    maximum: edgeLimits.heartbeatMostMs / 1_000,
    default: edgeLimits.heartbeatMs / 1_000,
  }),
  /** spec 2 §8: `stale_threshold_secs`; a host is Unhealthy after more than this silence. */
  WINDLASS_STALE_THRESHOLD_SECS: Type.Integer({
    minimum: 2,
    maximum: 86_400,
    default: edgeLimits.staleMs / 1_000,
  }),
  /** How long a stopping relay still serves, until no balancer sends daemons to it any more. */
  WINDLASS_DRAIN_SECONDS: Type.Integer({ minimum: 0, maximum: 15, default: 3 }),
  WINDLASS_SYSTEM_NAMESPACE: Type.String({ minLength: 1, default: 'windlass-system' }),
  WINDLASS_SYSTEM_TENANT: identityVariables.WINDLASS_SYSTEM_TENANT,
  ...busVariables,
});
export type RelayConfig = Readonly<Static<typeof RelayConfig>>;

/** Whether a process of this role serves the methods of edge mode (spec 2 §5). */
export const servesEdge = ({ WINDLASS_NODE_ROLE: role }: Pick<RelayConfig, 'WINDLASS_NODE_ROLE'>): boolean =>
  role !== 'Worker';

/** @throws ConfigError that lists every problem. */
export function readRelayConfig(env: Environment): RelayConfig {
  const config = parseConfig(RelayConfig, env);
  const { WINDLASS_RELAY_TLS_CERT_FILE: cert, WINDLASS_RELAY_TLS_KEY_FILE: key } = config;
  const problems: ConfigProblem[] = [];
  if (config.WINDLASS_NATS_URL === undefined) {
    problems.push({ name: 'WINDLASS_NATS_URL', problem: 'is not set; commands and results travel over NATS' });
  }
  if ((cert === undefined) !== (key === undefined)) {
    const name = cert === undefined ? 'WINDLASS_RELAY_TLS_CERT_FILE' : 'WINDLASS_RELAY_TLS_KEY_FILE';
    problems.push({ name, problem: 'is not set; certificate and key belong together' });
  }
  if (config.WINDLASS_STALE_THRESHOLD_SECS <= config.WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS) {
    const problem = 'must be larger than WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS, or every host is Unhealthy';
    problems.push({ name: 'WINDLASS_STALE_THRESHOLD_SECS', problem });
  }
  problems.push(...proxyProblems(config.WINDLASS_RELAY_TRUSTED_PROXIES));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

function proxyProblems(text: string): ConfigProblem[] {
  try {
    readProxies(text);
    return [];
  } catch (error) {
    return [{ name: 'WINDLASS_RELAY_TRUSTED_PROXIES', problem: messageOf(error) }];
  }
}
