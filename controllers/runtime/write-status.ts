import { WaitError } from '../../lib/errors.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { type KubeClient, type KubeObject, metadataOf, type Resource } from '../../lib/kube/index.ts';
import { isAbsent, isNamespaceGone } from '../../lib/kube/kube-error.ts';
import { asStored } from './as-stored.ts';
import { statusPatch } from './status-patch.ts';

/** For one kind: the resource that is written, and the cache that receives the result. */
interface StatusPort<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'jsonPatchStatus'>;
  readonly resource: Resource<T>;
  readonly cache: Pick<CacheReader<T>, 'remember'>;
  /**
   * The object is there in full, and so large that the answer is asked for without it: the writer knows the rest. Its schema must
   * keep each status as it was written.
   */
  readonly sparesAnswer?: boolean;
}

/** Writes the status of the object that is reconciled where it changed. Gives back the freshest version of the object. */
export async function writeStatus<T extends KubeObject & { readonly status?: unknown }>(
  { kube, resource, cache, sparesAnswer = false }: StatusPort<T>,
  object: T,
  status: object,
): Promise<T> {
  const patch = statusPatch(object, status);
  if (patch === undefined) return object;
  const { name = '', namespace = '' } = object.metadata;
  const stored = sparesAnswer ? asStored(object.status, status) : undefined;
  const asked = stored === undefined ? resource : metadataOf(resource);
  const answer = await whileThere(kube.jsonPatchStatus<KubeObject>(asked, { name, namespace }, patch));
  const written = isBare(answer) ? { ...object, metadata: answer.metadata, status: stored } : (answer as T);
  cache.remember(written);
  return written;
}

/** A server that cannot leave the rest out answers with the whole object. */
const isBare = ({ kind }: KubeObject): boolean => kind === 'PartialObjectMetadata';

/** Longest wait for the watch to report that an object is gone. */
const goneMs = 1_000;

/**
 * The answer to a write to the object that is reconciled. That it was deleted meanwhile is no failure. An object that outlived
 * its namespace is never deleted: that write is refused, and tried again ever more rarely.
 */
export async function whileThere<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (isAbsent(error) && !isNamespaceGone(error)) throw new WaitError('Deleted', goneMs);
    throw error;
  }
}
