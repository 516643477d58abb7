import type { Json } from '../../crds/schema/parts.ts';
import type { Signed } from './deliveries.ts';
import type { StimulusSource } from '../../lib/stimulus/stimulus.ts';

/** The input of a transport: an event whose sender it has authenticated (requirements AMB-004). */
export interface Submission {
  readonly source: StimulusSource;
  /** The transport, where it is not the one that the source's kind names: the specification has no kind for gRPC. */
  readonly transport?: 'Grpc';
  /** Slug of the tenant. Absent: the tenant that claims the source, or else the system tenant (AMB-144). */
  readonly tenant?: string;
  /** See `contentOfText` and `contentOfBytes`. */
  readonly content: Json;
  /** Any text of at most `limits.idempotencyKeyLength` characters; absent: every submission runs. */
  readonly idempotencyKey?: string;
  /** Names in any case. Credentials are left out before anything is kept of them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The signed bytes, where the transport has signatures. */
  readonly signed?: Pick<Signed, 'signature' | 'isBound'>;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The sender is gone: what has not been decided yet need not be. */
  readonly signal?: AbortSignal;
  /** Memory of the transport that counts for the content. Absent: none does. */
  readonly memory?: ContentMemory;
}

/** Memory that a transport keeps and counts for a content, while others could use it. */
export interface ContentMemory {
  /** The content is kept elsewhere, and counted there. */
  letGo(): void;
  /** Waits until the values of the content may take so many bytes again. @throws HttpError 503 where there is no room for long. */
  reserve(bytes: number): Promise<void>;
}

/** Outcome of an accepted stimulus. */
export interface Ingested {
  readonly stimulusId: string;
  /** The uid of the WorkflowExecution. */
  readonly workflowExecutionId: string;
}

/**
 * The one way in for stimuli, whatever transport they came through (spec 1 §4.6): refuses a duplicate, finds the
 * workflow, starts it, and tells the event bus. It throws IngestError for the outcomes of spec 1 §7.2, AppError
 * `limit_exceeded` for a content that no execution can hold, and AppError `unavailable` when the outcome is not known.
 * The sender may then try again with the same key, and the stimulus never runs twice.
 */
export type Ingest = (submission: Submission) => Promise<Ingested>;
