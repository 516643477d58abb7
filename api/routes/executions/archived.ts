import { isUid } from '../../../crds/uid.ts';
import type { ArchivePageQuery, ArchiveReader, ArchivedRow } from '../../../lib/archive/archive-store.ts';
import { type ExecutionRecord, readRecord } from '../../../lib/archive/record.ts';
import { archiveLimits } from '../../../lib/archive/limits.ts';
import type { Clock } from '../../../lib/clock.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import type { ErrorContract } from '../../../lib/http/contract.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { isObjectName } from '../../cluster/index.ts';

/** The archive as one tenant sees it. */
export interface ArchivedExecutions {
  /** By id, or the last of a name; undefined for what the tenant's archive does not hold. */
  find<T>(tenant: string, nameOrUid: string, use: (record: ExecutionRecord) => Promise<T>): Promise<T | undefined>;
  /** @throws HttpError 503 where there is no archive. */
  page(tenant: string, query: ArchivePageQuery): Promise<ArchivedPage>;
}

interface ArchivedPage {
  readonly rows: readonly ArchivedRow[];
  readonly next: string | undefined;
}

interface ArchivedDeps {
  /** Undefined where no archive is configured. */
  readonly archive: ArchiveReader | undefined;
  readonly clock: Clock;
  /** Whose records a tenant may read; undefined for a tenant without a namespace. */
  readonly ownerOf: (tenant: string) => string | undefined;
}

export const noArchive: ErrorContract = {
  status: 503,
  error: 'Archive not configured',
  when: 'There is neither NATS nor an S3 bucket that records could be kept in, or the archive is turned off.',
};

/** A record may take many times its size while it is read, so few are read at a time. */
export function createArchivedExecutions({ archive, clock, ownerOf }: ArchivedDeps): ArchivedExecutions {
  const reads = createFairPool({ size: archiveLimits.readsAtOnce, clock });
  return {
    async find(tenant, nameOrUid, use) {
      const owner = ownerOf(tenant);
      if (archive === undefined || owner === undefined) return undefined;
      // A text that is no name of an object could lead anywhere in a bucket.
      if (!isUid(nameOrUid) && !isObjectName(nameOrUid)) return undefined;
      return reads.run({ tenant }, async () => {
        const packed = await archive.read(owner, nameOrUid);
        return packed === undefined ? undefined : use(await readRecord(packed));
      });
    },
    async page(tenant, query) {
      const owner = ownerOf(tenant);
      if (archive === undefined) throw new HttpError({ code: 'unavailable', error: noArchive.error });
      return owner === undefined ? { rows: [], next: undefined } : archive.page(owner, query);
    },
  };
}
