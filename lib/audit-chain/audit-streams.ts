import type { StreamDefinition } from '../bus/index.ts';
import { auditLimits } from './limits.ts';
import { gatewayAuditStream } from './stream-name.ts';

/** The store of the gateway's events: under a tenant and a lane the batches of one chain. */
export const auditStream: StreamDefinition = {
  name: gatewayAuditStream,
  retention: { maxAgeMs: auditLimits.storedMaxAgeMs, maxBytes: auditLimits.storedMaxBytes },
  isRecord: true,
};

/** The newest checkpoints of each chain, which a cut through the events themselves does not take along. */
export const checkpointStream: StreamDefinition = {
  name: 'gateway_audit_checkpoints',
  retention: { maxAgeMs: auditLimits.storedMaxAgeMs, maxBytes: auditLimits.checkpointsMaxBytes },
  isRecord: true,
  newest: auditLimits.checkpointsKept,
};

/** The tenant of events that belong to none: a name that no tenant has. */
export const noTenant = '';
