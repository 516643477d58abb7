export type { AuditChain } from './audit-chain.ts';
export { auditKeyVariables, loadAuditKey, loadFormerKeys } from './audit-key.ts';
export { type AuditObserver, createAuditMetrics } from './audit-observer.ts';
export {
  type AuditCursor,
  type AuditPage,
  type AuditQuery,
  type AuditRecord,
  createAuditRecord,
} from './audit-record.ts';
export { noTenant } from './audit-streams.ts';
export type { ChainedEvent } from './chained-event.ts';
export { type Checkpoint, keyIdOf, pemOf } from './checkpoint.ts';
export { type AuditChainDeps, createAuditChain } from './create-audit-chain.ts';
export { type GatewayEvent, type GatewayEventType, gatewayEventTypes } from './gateway-event.ts';
export { auditLimits } from './limits.ts';
export {
  type ChainProblem,
  type ChainReport,
  type ChainVerifier,
  createChainVerifier,
  verify,
  type VerifyOptions,
} from './verify-chain.ts';
