import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { EventSink } from './event-bus.ts';
import { duplicateWindowMs } from './streams.ts';
import { auditTopic } from './subjects.ts';

/** Acts of persons and service accounts that an audit may ask about. */
const auditTypes = [
  'WorkflowRegistered',
  'WorkflowDeleted',
  'WorkflowPromoted',
  'WorkflowDemoted',
  'ExecutionStarted',
  'ExecutionCancelled',
  'ExecutionDeleted',
  'AgentRegistered',
  'AgentDeleted',
  'AgentExecutionStarted',
  'AgentExecutionCancelled',
  'AgentExecutionDeleted',
  'VolumeCreated',
  'VolumeDeleted',
  'GitBindingCreated',
  'GitBindingCommitted',
  'GitBindingPushed',
  'GitBindingDeleted',
  'ScriptSaved',
  'ScriptUpdated',
  'ScriptDeleted',
  'ExecutionSignalled',
  'HumanApprovalApproved',
  'HumanApprovalRejected',
  'ToolInvoked',
  'ToolInvocationEnded',
  'ToolInvocationRefused',
  'TenantMismatch',
  'SealTokenIssued',
  'EdgeEnrollmentTokenIssued',
  'EdgeHostChanged',
  'EdgeHostRevoked',
  'EdgeHostDrained',
  'EdgeHostConfigPushed',
  'EdgeHostShutDown',
  'EdgeGroupCreated',
  'EdgeGroupChanged',
  'EdgeGroupDeleted',
  'FleetRunStarted',
  'FleetRunCancelled',
] as const;
type AuditType = (typeof auditTypes)[number];

export interface AuditEntry {
  readonly type: AuditType;
  /** The caller, with the tenant. */
  readonly by: { readonly subject: string; readonly tenant: string };
  /** Uid of what it was done to. */
  readonly subject: string;
  /**
   * Distinguishes the act from the others of its type on the subject. A named act is recorded again when its caller repeats
   * it, as the first record may be lost; it keeps one id, so the stream stores one event.
   */
  readonly act?: string;
  /**
   * RFC 3339: when the act was done, for a repetition. One that comes later than the stream knows the id is dropped.
   */
  readonly doneAt?: string | undefined;
  /** More about it: names, versions, scopes. Never a payload, a token, or text that a person wrote. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Called by a handler once the act is done, and for a repetition that changed nothing only where the entry names the
 * act. Returns at once and never throws: the resource holds the act itself.
 */
export interface AuditTrail {
  record(entry: AuditEntry): void;
}

interface AuditTrailDeps {
  readonly events: EventSink;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Half of the time that the stream knows an id: events may wait before they are stored. */
const retoldMs = duplicateWindowMs / 2;

/** Writes audit events of one process: topic `audit`, with the actor beside the entry's own data. */
export function createAuditTrail({ events, clock, newId }: AuditTrailDeps, source: string): AuditTrail {
  return {
    record: ({ type, by, subject, act, doneAt, data }) => {
      if (doneAt !== undefined && clock.now() - Date.parse(doneAt) > retoldMs) return;
      events.raise({
        id: `${source}-${act === undefined ? newId() : [type, subject, act].join('-')}`,
        topic: auditTopic,
        source,
        type,
        subject,
        tenant: by.tenant,
        time: new Date(clock.now()).toISOString(),
        data: { ...data, actor: by.subject },
      });
    },
  };
}
