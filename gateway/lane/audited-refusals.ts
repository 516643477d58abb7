import type { AuditChain } from '../../lib/audit-chain/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { createRefusalNotes, type NoteRefusal } from '../../lib/envelope/index.ts';

interface RefusalDeps {
  readonly audit: Pick<AuditChain, 'append'>;
  readonly clock: Clock;
}

/** Notes of refused calls in the audit. A refusal that cannot be written is a refusal still; a mismatch of tenants is answered 503. */
export const createAuditedRefusals = ({ audit, clock }: RefusalDeps): NoteRefusal =>
  createRefusalNotes({
    clock,
    write: (event) =>
      event.type === 'TenantMismatch' ? audit.append(event) : audit.append(event).catch(() => undefined),
  });
