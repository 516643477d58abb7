import { Counter, type Registry } from 'prom-client';
import type { GatewayEventType } from './gateway-event.ts';

/** Hears of outcomes that the audit will never have. */
export interface AuditObserver {
  lost(type: GatewayEventType): void;
}

/** Counts them in a process's own registry. */
export function createAuditMetrics(registry: Registry): AuditObserver {
  const lost = new Counter({
    name: 'windlass_audit_outcomes_lost_total',
    help: 'Outcomes that will never be in the audit; their intents are there.',
    labelNames: ['type'],
    registers: [registry],
  });
  return { lost: (type) => lost.inc({ type }) };
}
