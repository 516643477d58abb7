export type { AuditChain } from './audit-chain.ts';
export { type GatewayEvent, type GatewayEventType, gatewayEventTypes } from './gateway-event.ts';
