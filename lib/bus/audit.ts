import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { EventSink } from './event-bus.ts';
import { auditTopic } from './subjects.ts';

/** Everything that a person or service account does and that somebody may ask about later. */
export const auditTypes = [
  'WorkflowRegistered',
  'WorkflowDeleted',
  'WorkflowPromoted',
  'WorkflowDemoted',
  'ExecutionStarted',
  'ExecutionCancelled',
  'ExecutionSignalled',
  'HumanApprovalApproved',
  'HumanApprovalRejected',
] as const;
type AuditType = (typeof auditTypes)[number];

export interface AuditEntry {
  readonly type: AuditType;
  /** Who did it, and for which tenant: the caller. */
  readonly by: { readonly subject: string; readonly tenant: string };
  /** Uid of what it was done to. */
  readonly subject: string;
  /** Nobody can do this to the subject a second time. Whoever tells of it again then tells the same event. */
  readonly once?: boolean;
  /** More about it: names, versions, scopes. Never a payload, a token, or text that a person wrote. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Called by a handler once the act is done, and not for a repetition that changed nothing, unless the entry is `once`. Returns at once and never
 * throws: the act itself stands in the resource.
 */
export interface AuditTrail {
  record(entry: AuditEntry): void;
}

interface AuditTrailDeps {
  readonly events: EventSink;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Writes audit events of one process: topic `audit`, with the actor beside the entry's own data. */
export function createAuditTrail({ events, clock, newId }: AuditTrailDeps, source: string): AuditTrail {
  return {
    record: ({ type, by, subject, once = false, data }) =>
      events.raise({
        id: once ? `${source}-${type}-${subject}` : `${source}-${newId()}`,
        topic: auditTopic,
        source,
        type,
        subject,
        tenant: by.tenant,
        time: new Date(clock.now()).toISOString(),
        data: { ...data, actor: by.subject },
      }),
  };
}
