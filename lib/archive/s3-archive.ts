import { AppError } from '../errors.ts';
import { packedBytesMax } from '../output-store/packed.ts';
import { createS3Bucket, type S3Bucket, type S3BucketOptions } from '../output-store/s3-bucket.ts';
import type { ArchivedRow, ArchiveOwner, ArchivePage, ArchivePageQuery, ArchiveStore } from './archive-store.ts';
import { archiveLimits } from './limits.ts';

/**
 * Keeps records in a bucket of any S3-compatible store. Each has three objects: the record under `record/<uid>`, the
 * uid under `name/<name>`, and its row under `time/…`, by its key. The key orders the newest first, and says how large
 * the record is. The row comes last, so that what is listed is there. Too old records are deleted by `expire`.
 */
export function createS3Archive(options: S3BucketOptions, ttlMs: number): ArchiveStore {
  const bucket = createS3Bucket(options);
  // No namespace has such a name: outputs are under theirs.
  const root = `${options.prefix}_archive/`;
  const deps: ArchiveDeps = { bucket, root };
  return {
    async write({ owner, uid, name, finishedAt, row, body }) {
      const folder = folderOf(deps, owner);
      await bucket.write(`${folder}record/${uid}`, body);
      await bucket.write(`${folder}name/${name}`, Buffer.from(uid));
      const key = timeKey({ at: finishedAt, uid, bytes: body.byteLength });
      await bucket.write(`${folder}time/${key}`, Buffer.from(JSON.stringify(row)));
    },
    read: (owner, nameOrUid) => read(deps, owner, nameOrUid),
    page: (owner, query) => page(deps, owner, query),
    usage: () => usage(deps),
    trim: (owner, bytes) => trim(deps, owner, bytes),
    expire: (now) => expire(deps, now - ttlMs),
    problem: () => undefined,
  };
}

interface ArchiveDeps {
  readonly bucket: S3Bucket;
  readonly root: string;
}

const folderOf = ({ root }: ArchiveDeps, owner: ArchiveOwner): string => `${root}${owner}/`;

/** When a record's execution ended, whose it is and how large: what the key of its row says. */
interface TimeKey {
  readonly at: number;
  readonly uid: string;
  readonly bytes: number;
}

/** Keys are listed in ascending order only, so a later time makes a lower key. */
const endOfTime = 9_999_999_999_999;
const digits = 13;
const backwards = (at: number): string => String(endOfTime - at).padStart(digits, '0');

const timeKey = ({ at, uid, bytes }: TimeKey): string => `${backwards(at)}_${uid}_${bytes}`;

/** Undefined for a key that is none of ours. */
function parseTimeKey(key: string): TimeKey | undefined {
  const [, time, uid, bytes] = /\/time\/(\d{13})_([^_/]+)_(\d+)$/.exec(key) ?? [];
  if (time === undefined || uid === undefined) return undefined;
  return { at: endOfTime - Number(time), uid, bytes: Number(bytes) };
}

/** Longest uid under a name. */
const uidBytes = 64;

async function read(deps: ArchiveDeps, owner: ArchiveOwner, nameOrUid: string): Promise<Uint8Array | undefined> {
  const record = await recordOf(deps, owner, nameOrUid);
  if (record !== undefined) return record;
  const uid = await unlessAbsent(deps.bucket.read(`${folderOf(deps, owner)}name/${nameOrUid}`, uidBytes));
  return uid === undefined ? undefined : recordOf(deps, owner, Buffer.from(uid).toString());
}

function recordOf(deps: ArchiveDeps, owner: ArchiveOwner, uid: string): Promise<Uint8Array | undefined> {
  const key = `${folderOf(deps, owner)}record/${uid}`;
  return unlessAbsent(deps.bucket.read(key, packedBytesMax(archiveLimits.recordBytes)));
}

async function unlessAbsent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

async function page(deps: ArchiveDeps, owner: ArchiveOwner, query: ArchivePageQuery): Promise<ArchivePage> {
  const folder = `${folderOf(deps, owner)}time/`;
  const after = query.after === undefined ? undefined : `${folder}${query.after}`;
  const keys = (await deps.bucket.keys(folder, after, query.limit + 1)).filter((key) => key > (after ?? ''));
  const shown = keys.slice(0, query.limit);
  const rows = await Promise.all(shown.map((key) => unlessAbsent(deps.bucket.read(key, archiveLimits.rowBytes))));
  return {
    rows: rows.flatMap((row) => (row === undefined ? [] : [JSON.parse(Buffer.from(row).toString()) as ArchivedRow])),
    next: keys.length > shown.length ? shown.at(-1)?.slice(folder.length) : undefined,
  };
}

/**
 * Every key behind `after`, a page at a time. Some servers begin anew behind a key that is not there, hence the comparison;
 * nothing may be deleted before the last page.
 */
async function* allKeys({ bucket }: ArchiveDeps, folder: string, after = ''): AsyncIterable<readonly string[]> {
  let keys = await bucket.keys(folder, after === '' ? undefined : after);
  while (keys.length > 0) {
    yield keys.filter((key) => key > after);
    keys = await bucket.keys(folder, keys.at(-1));
  }
}

async function usage(deps: ArchiveDeps): Promise<ReadonlyMap<ArchiveOwner, number>> {
  const found = new Map<ArchiveOwner, number>();
  for await (const keys of allKeys(deps, deps.root)) {
    for (const key of keys) {
      const [owner = ''] = key.slice(deps.root.length).split('/');
      const bytes = parseTimeKey(key)?.bytes;
      if (bytes !== undefined) found.set(owner, (found.get(owner) ?? 0) + bytes);
    }
  }
  return found;
}

async function trim(deps: ArchiveDeps, owner: ArchiveOwner, bytesMax: number): Promise<number> {
  let kept = 0;
  let isFull = false;
  const gone: string[] = [];
  for await (const keys of allKeys(deps, `${folderOf(deps, owner)}time/`)) {
    for (const key of keys) {
      const { bytes = 0 } = parseTimeKey(key) ?? {};
      // A record older than one beyond the limit is deleted as well, however small.
      isFull ||= kept + bytes > bytesMax;
      if (isFull) gone.push(key);
      else kept += bytes;
    }
  }
  await removeRecords(deps, owner, gone);
  return kept;
}

async function expire(deps: ArchiveDeps, before: number): Promise<void> {
  for (const owner of (await usage(deps)).keys()) {
    const folder = `${folderOf(deps, owner)}time/`;
    const old: string[] = [];
    // Behind every key of that moment.
    for await (const keys of allKeys(deps, folder, `${folder}${backwards(before)}~`)) old.push(...keys);
    await removeRecords(deps, owner, old);
  }
}

/** Half of a thousand, which is what one request deletes: of each the row and the record. */
const removedAtOnce = 500;

/** The row is deleted with the record; a name leads nowhere then, until another execution has it. */
async function removeRecords(deps: ArchiveDeps, owner: ArchiveOwner, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += removedAtOnce) {
    const rows = keys.slice(start, start + removedAtOnce);
    const records = rows.flatMap((key) => {
      const uid = parseTimeKey(key)?.uid;
      return uid === undefined ? [] : [`${folderOf(deps, owner)}record/${uid}`];
    });
    await deps.bucket.remove([...rows, ...records]);
  }
}
