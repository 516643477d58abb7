import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';

/**
 * Whose records they are: the uid of the tenant's namespace, so that a later namespace of the same name does not read
 * them. For a namespace without a tenant's label, it is its name. Each kind of execution has an owner of its own
 * (`agentOwnerOf`).
 */
export type ArchiveOwner = string;

/** A record on its way to the archive. */
export interface ArchiveEntry {
  readonly owner: ArchiveOwner;
  readonly uid: string;
  readonly name: string;
  /** When the execution ended, in milliseconds since the epoch. */
  readonly finishedAt: number;
  /** The row of a list. */
  readonly row: ArchivedRow;
  /** As `writeRecord` makes it. */
  readonly body: Uint8Array;
}

/** An archived execution as a list shows it: the custom resource without what users fill. */
export type ArchivedRow = WorkflowExecution | AgentExecution;

export interface ArchivePage {
  /** The newest first. A page may hold fewer rows than it has room for, though others follow. */
  readonly rows: readonly ArchivedRow[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
}

/** Asks for rows behind `after`, which is `next` of the page before. */
export interface ArchivePageQuery {
  readonly after: string | undefined;
  readonly limit: number;
}

/** Reader of the archive. Calls throw AppError `unavailable` where the store cannot be reached. */
export interface ArchiveReader {
  /** The record of an execution by its uid, or the newest one of a name; undefined where there is none. */
  read(owner: ArchiveOwner, nameOrUid: string): Promise<Uint8Array | undefined>;
  page(owner: ArchiveOwner, query: ArchivePageQuery): Promise<ArchivePage>;
}

/** Where the records of finished executions are kept (requirements AMB-174). */
export interface ArchiveStore extends ArchiveReader {
  /** Stores a record under its uid. Storing it twice is storing it once. */
  write(entry: ArchiveEntry): Promise<void>;
  /** How many bytes the records of each owner take. */
  usage(): Promise<ReadonlyMap<ArchiveOwner, number>>;
  /** Deletes the oldest records of an owner until the rest takes no more than `bytes`; gives the bytes that are left. */
  trim(owner: ArchiveOwner, bytes: number): Promise<number>;
  /** Deletes what is older than the archive keeps, where the store does not do so by itself. */
  expire(now: number): Promise<void>;
  /** Undefined while calls can succeed, else why they cannot. */
  problem(): string | undefined;
}
