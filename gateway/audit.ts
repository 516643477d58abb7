import {
  type AuditChain,
  createAuditChain,
  createAuditMetrics,
  loadAuditKey,
  pemOf,
} from '../lib/audit-chain/index.ts';
import type { EventBus } from '../lib/bus/index.ts';
import type { GatewayDeps } from './gateway-deps.ts';

export interface GatewayAudit {
  readonly chain: AuditChain;
  /** The public key of its checkpoints, as PEM (SPKI). */
  readonly publicKey: string;
}

/**
 * The audit of this replica.
 * @throws ConfigError for a key that cannot be read.
 */
export function openAudit(deps: GatewayDeps, bus: EventBus): GatewayAudit {
  const key = loadAuditKey(deps.config, deps.readFile, deps.logger);
  const observer = createAuditMetrics(deps.metrics.registry);
  return { chain: createAuditChain({ ...deps, bus, key, observer }), publicKey: pemOf(key) };
}
