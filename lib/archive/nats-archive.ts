import type { EventBus, ObjectBucket } from '../bus/index.ts';
import type { ArchivedRow, ArchiveOwner, ArchivePage, ArchivePageQuery, ArchiveStore } from './archive-store.ts';
import { archiveLimits } from './limits.ts';

/** Buckets of the archive, one for each owner, begin so. */
const prefix = 'archive_';

/** Keeps records in the object store of NATS JetStream, one bucket for each tenant; the server drops what is too old. */
export function createNatsArchive(
  bus: Pick<EventBus, 'objects' | 'objectBytes' | 'problem'>,
  ttlMs: number,
): ArchiveStore {
  const bucketOf = (owner: ArchiveOwner): ObjectBucket => bus.objects({ name: `${prefix}${owner}`, ttlMs });
  return {
    write: ({ owner, uid: name, name: alias, row, body }) =>
      bucketOf(owner).put({ name, alias, row: JSON.stringify(row), body }),
    read: (owner, nameOrUid) => bucketOf(owner).get(nameOrUid, archiveLimits.recordBytes),
    page: (owner, query) => page(bucketOf(owner), query),
    usage: () => bus.objectBytes(prefix),
    trim: (owner, bytes) => bucketOf(owner).trim(bytes),
    expire: async () => undefined,
    problem: () => bus.problem(),
  };
}

async function page(bucket: ObjectBucket, { after, limit }: ArchivePageQuery): Promise<ArchivePage> {
  const { rows, next } = await bucket.page({ before: after === undefined ? undefined : Number(after), limit });
  return {
    rows: rows.map((row) => JSON.parse(row) as ArchivedRow),
    next: next === undefined ? undefined : String(next),
  };
}
