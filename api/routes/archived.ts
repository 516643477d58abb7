import { isUid } from '../../crds/uid.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { type AgentRecord, readAgentRecord } from '../../lib/archive/agent-record.ts';
import type { ArchivedRow, ArchiveOwner, ArchivePageQuery, ArchiveReader } from '../../lib/archive/archive-store.ts';
import { agentOwnerOf } from '../../lib/archive/create-archive.ts';
import { archiveLimits } from '../../lib/archive/limits.ts';
import { type ExecutionRecord, readRecord } from '../../lib/archive/record.ts';
import type { Clock } from '../../lib/clock.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import type { ErrorContract } from '../../lib/http/contract.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { createListCursor, type Cursor } from '../../lib/http/paging.ts';
import { isObjectName } from '../../lib/kube/index.ts';

/** The records of one kind of execution as one tenant sees them. */
interface Archived<Opened, Row extends ArchivedRow> {
  /** By id, or the last of a name; undefined for what the tenant's archive does not hold. */
  find<T>(tenant: string, nameOrUid: string, use: (record: Opened) => Promise<T>): Promise<T | undefined>;
  /** @throws HttpError 503 where there is no archive. */
  page(tenant: string, query: ArchivePageQuery): Promise<ArchivedPage<Row>>;
}

export type ArchivedExecutions = Archived<ExecutionRecord, WorkflowExecution>;
export type ArchivedAgentExecutions = Archived<AgentRecord, AgentExecution>;

interface ArchivedPage<Row extends ArchivedRow> {
  readonly rows: readonly Row[];
  readonly next: string | undefined;
}

/** Archived executions of each kind. */
export interface ArchivedObjects {
  readonly workflows: ArchivedExecutions;
  readonly agents: ArchivedAgentExecutions;
}

interface ArchivesDeps {
  /** Undefined where no archive is configured. */
  readonly archive: ArchiveReader | undefined;
  readonly clock: Clock;
  /** Whose records a tenant may read; undefined for a tenant without a namespace. */
  readonly ownerOf: (tenant: string) => ArchiveOwner | undefined;
}

export const noArchive: ErrorContract = {
  status: 503,
  error: 'Archive not configured',
  when: 'There is neither NATS nor an S3 bucket that records could be kept in, or the archive is turned off.',
};

/** A record may take many times its size while it is read, so few are read at a time, of all kinds together. */
export function createArchives({ archive, clock, ownerOf }: ArchivesDeps): ArchivedObjects {
  const reads = createFairPool({ size: archiveLimits.readsAtOnce, clock });
  const shared = { archive, reads };
  return {
    workflows: archivedOf({ ...shared, ownerOf, open: readRecord, isRow: (row) => row.kind === 'WorkflowExecution' }),
    agents: archivedOf({
      ...shared,
      ownerOf(tenant) {
        const owner = ownerOf(tenant);
        return owner === undefined ? undefined : agentOwnerOf(owner);
      },
      open: readAgentRecord,
      isRow: (row) => row.kind === 'AgentExecution',
    }),
  };
}

interface ArchivedDeps<Opened, Row extends ArchivedRow> extends Pick<ArchivesDeps, 'archive' | 'ownerOf'> {
  readonly reads: FairPool;
  readonly open: (packed: Uint8Array) => Promise<Opened>;
  readonly isRow: (row: ArchivedRow) => row is Row;
}

function archivedOf<Opened, Row extends ArchivedRow>({
  archive,
  ownerOf,
  reads,
  open,
  isRow,
}: ArchivedDeps<Opened, Row>): Archived<Opened, Row> {
  return {
    async find(tenant, nameOrUid, use) {
      const owner = ownerOf(tenant);
      if (archive === undefined || owner === undefined) return undefined;
      // A text that is no name of an object could lead anywhere in a bucket.
      if (!isUid(nameOrUid) && !isObjectName(nameOrUid)) return undefined;
      return reads.run({ tenant }, async () => {
        const packed = await archive.read(owner, nameOrUid);
        return packed === undefined ? undefined : use(await open(packed));
      });
    },
    async page(tenant, query) {
      const owner = ownerOf(tenant);
      if (archive === undefined) throw new HttpError({ code: 'unavailable', error: noArchive.error });
      if (owner === undefined) return { rows: [], next: undefined };
      const { rows, next } = await archive.page(owner, query);
      return { rows: rows.filter(isRow), next };
    },
  };
}

/** A place in the archive, as its store names it. */
export const createArchiveCursor = (list: string): Cursor<string> =>
  createListCursor(
    list,
    (after) => `archive/${after}`,
    (text) => /^archive\/([0-9A-Za-z_-]{1,128})$/.exec(text)?.[1],
  );
