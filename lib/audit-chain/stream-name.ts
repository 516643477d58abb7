/** Stream of the gateway's audit events. */
export const gatewayAuditStream = 'gateway_audit';
