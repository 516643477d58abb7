import type { AuditChain } from '../lib/audit-chain/index.ts';
import { auditTopic, type EventBus } from '../lib/bus/index.ts';
import type { GatewayDeps } from './gateway-deps.ts';

/** The audit of this replica. */
export function openAudit({ clock, newId }: GatewayDeps, bus: EventBus): AuditChain {
  return {
    append: ({ type, tenant = '', subject, invocationId, data }) =>
      bus.publish({
        id: `gateway-${newId()}`,
        topic: auditTopic,
        source: 'gateway',
        type,
        subject: invocationId ?? subject,
        tenant,
        time: new Date(clock.now()).toISOString(),
        data: { ...data, actor: subject },
      }),
    problem: () => bus.problem(),
    close: async () => undefined,
  };
}
