import type { AuditChain } from '../../lib/audit-chain/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { createRefusalNotes, type NoteRefusal } from '../../lib/envelope/index.ts';

interface RefusalDeps {
  readonly audit: Pick<AuditChain, 'append'>;
  readonly clock: Clock;
}

/** Notes of refused calls in the audit. A refusal that cannot be written is a refusal still. */
export const createAuditedRefusals = ({ audit, clock }: RefusalDeps): NoteRefusal =>
  createRefusalNotes({ clock, write: (event) => audit.append(event).catch(() => undefined) });
