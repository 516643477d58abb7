import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArchiveStore } from '../../lib/archive/archive-store.ts';
import { createS3Archive } from '../../lib/archive/s3-archive.ts';
import { anEntry, describeArchive, namesOf } from '../archive/archive-contract.ts';
import { begin } from '../builders/execution-builder.ts';
import { type S3Server, startS3Server } from './outputs/s3-server.ts';

/** Needs no cluster, only a real S3-compatible server, which it starts. */
describe('the archive in S3', () => {
  let server: S3Server;
  let stores = 0;
  const dayMs = 86_400_000;
  /** Each has a prefix of its own. */
  const open = async (): Promise<ArchiveStore> => {
    stores += 1;
    return createS3Archive({ ...server.options, prefix: `tests/${stores}/` }, dayMs);
  };

  beforeAll(async () => {
    server = await startS3Server();
  });
  afterAll(() => server?.stop());

  describeArchive(open);

  it('AMB-174 deletes records that are older than it keeps', async () => {
    const store = await open();
    for (const second of [1, 2, 3]) await store.write(anEntry(second, {}));
    await store.expire(begin + dayMs + 2_000);
    expect((await namesOf(store, 'tenant-a')).flat()).toEqual(['run-3', 'run-2']);
    expect(await store.read('tenant-a', 'run-1')).toBeUndefined();
    await store.expire(begin + dayMs + 4_000);
    expect((await namesOf(store, 'tenant-a')).flat()).toEqual([]);
  });

  it('is neither written nor emptied once the guard objects', async () => {
    const guard = (): never => {
      throw new Error('no longer the leader');
    };
    const options = { ...server.options, prefix: 'tests/guarded/' };
    await createS3Archive(options, dayMs).write(anEntry(1, {}));
    const guarded = createS3Archive({ ...options, guard }, dayMs);
    await expect(guarded.write(anEntry(2, {}))).rejects.toThrow('no longer the leader');
    await expect(guarded.trim('tenant-a', 0)).rejects.toThrow('no longer the leader');
    expect((await namesOf(guarded, 'tenant-a')).flat()).toEqual(['run-1']);
  });
});
