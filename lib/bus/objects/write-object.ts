import type { ObjectInfo, ObjectStore, ObjectStoreMeta } from '@nats-io/obj';
import { isConflict } from '../bus-error.ts';

/** Longest wait for one piece of an object to be stored. */
const putTimeoutMs = 10_000;
/** Writers of one object at once: a former leader and its successor are two. */
const attemptsMost = 5;

/**
 * Replaces the object that was there. The library deletes the pieces of the one before, and those of a write that fails. Without
 * the guard two writers at once would both replace the same one, and the pieces of the first would stay until they are too old.
 * A writer that another overtook writes once more.
 */
export async function writeObject(store: ObjectStore, meta: ObjectStoreMeta, body: Uint8Array): Promise<ObjectInfo> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await store.info(meta.name);
    try {
      return await store.putBlob(meta, body, { timeout: putTimeoutMs, previousRevision: before?.revision ?? 0 });
    } catch (error) {
      if (!isConflict(error) || attempt === attemptsMost) throw error;
    }
  }
}
