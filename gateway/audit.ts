import {
  type AuditChain,
  createAuditChain,
  createAuditMetrics,
  loadAuditKey,
  loadFormerKeys,
  pemOf,
} from '../lib/audit-chain/index.ts';
import type { EventBus } from '../lib/bus/index.ts';
import type { GatewayDeps } from './gateway-deps.ts';

/** Public keys of checkpoints, as PEM (SPKI). */
export interface AuditPublicKeys {
  /** Half of the key that signs. */
  readonly signing: string;
  /** Those that signed before. */
  readonly former: readonly string[];
}

interface GatewayAudit {
  readonly chain: AuditChain;
  readonly keys: AuditPublicKeys;
}

/**
 * The audit of this replica.
 * @throws ConfigError for a key that cannot be read.
 */
export function openAudit(deps: GatewayDeps, bus: EventBus): GatewayAudit {
  const key = loadAuditKey(deps.config, deps.readFile, deps.logger);
  const formerKeys = loadFormerKeys(deps.config);
  const observer = createAuditMetrics(deps.metrics.registry);
  return {
    chain: createAuditChain({ ...deps, bus, key, formerKeys, observer }),
    keys: { signing: pemOf(key), former: formerKeys.map(pemOf) },
  };
}
