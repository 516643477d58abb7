import type { BlobLocator } from './blob.ts';
import type { BlobOwner, OutputStore } from './output-store.ts';
import { boundOf, packAll, packedBytesMax, unpack } from './packed.ts';
import { createS3Bucket, type S3BucketOptions } from './s3-bucket.ts';

/** The bucket of the outputs. */
export type S3StoreOptions = S3BucketOptions;

/**
 * Keeps outputs in a bucket of any S3-compatible store, gzipped, one object a blob, under
 * `<prefix><namespace>/<execution uid>/<ref>`. It has no budget. Kubernetes cannot collect these objects, so the
 * writer must call `deleteAll` when the execution is deleted. The SDK is loaded at the first use.
 */
export function createS3Store(options: S3StoreOptions): OutputStore {
  const bucket = createS3Bucket(options);
  return {
    async put(owner, blobs) {
      const folder = folderOf(options, owner);
      const rest = (await packAll(blobs)).values();
      const writers = Array.from({ length: writesAtOnce }, async () => {
        let bytes = 0;
        for (const { blob, data } of rest) bytes += await bucket.write(`${folder}${blob.ref}`, data);
        return bytes;
      });
      return (await Promise.all(writers)).reduce((sum, bytes) => sum + bytes, 0);
    },
    async get(namespace, locator: BlobLocator) {
      const { executionUid: uid, ref } = locator;
      const key = `${folderOf(options, { namespace, uid })}${ref}`;
      return unpack(await bucket.read(key, packedBytesMax(boundOf(locator))), locator);
    },
    async adopt(owner, blobs) {
      const rest = blobs.values();
      const absent: BlobLocator[] = [];
      const writers = Array.from({ length: writesAtOnce }, async () => {
        for (const blob of rest) {
          const from = folderOf(options, { namespace: owner.namespace, uid: blob.executionUid });
          const isThere = await bucket.copy(`${from}${blob.ref}`, `${folderOf(options, owner)}${blob.ref}`);
          if (!isThere) absent.push(blob);
        }
      });
      await Promise.all(writers);
      return absent;
    },
    async deleteAll(owner) {
      await bucket.clear(folderOf(options, owner));
    },
  };
}

/**
 * Objects that one put writes at a time. The client has 50 sockets, and counts the wait for one as time in which no
 * connection was made.
 */
const writesAtOnce = 16;

const folderOf = ({ prefix }: S3StoreOptions, { namespace, uid }: Pick<BlobOwner, 'namespace' | 'uid'>): string =>
  `${prefix}${namespace}/${uid}/`;
