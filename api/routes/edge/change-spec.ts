import { HttpError } from '../../../lib/http/index.ts';
import type { ErrorContract } from '../../../lib/http/contract.ts';
import {
  findObject,
  isConflict,
  isInvalid,
  isNotFound,
  type KubeClient,
  type KubeObject,
} from '../../../lib/kube/index.ts';
import type { Resource } from '../../../lib/kube/index.ts';
import { sameJson } from '../../../lib/same-json.ts';
import { notFound } from '../not-found.ts';

interface ObjectWithSpec<S> extends KubeObject {
  readonly spec: S;
}

/** The changed object and its change. */
interface Change<S, T extends ObjectWithSpec<S>> {
  readonly resource: Resource<T>;
  /** As it is known; only name, namespace and uid count. */
  readonly object: { readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string } };
  /** The spec that is wanted instead of the latest one; may throw a refusal. */
  readonly change: (spec: S) => S;
  /** Answered where the object is gone. */
  readonly unknown: ErrorContract;
}

/** Attempts while others write the object at the same time. */
const attempts = 5;

/** Replaces the spec of an object in one step; what is so already is not written. @throws HttpError 404, 409 */
export async function changeSpec<S, T extends ObjectWithSpec<S>>(
  kube: Pick<KubeClient, 'get' | 'jsonPatch'>,
  { resource, object, change, unknown }: Change<S, T>,
): Promise<T> {
  const { name, namespace = '', uid } = object.metadata;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const latest = await findObject(kube, resource, { namespace, name });
    if (latest === undefined || latest.metadata.uid !== uid) throw notFound(unknown);
    const spec = change(latest.spec);
    if (sameJson(spec, latest.spec)) return latest;
    const written = await replaceSpec(kube, resource, latest, spec).catch((error: unknown) => {
      if (isNotFound(error)) throw notFound(unknown, { cause: error });
      // A failed test of a patch counts as invalid, and so does a spec that the server refuses.
      if (isConflict(error) || (isInvalid(error) && attempt < attempts)) return undefined;
      throw error;
    });
    if (written !== undefined) return written;
  }
  throw new HttpError({ code: 'conflict', message: 'others change it at the same time; try again' });
}

function replaceSpec<T extends KubeObject>(
  kube: Pick<KubeClient, 'jsonPatch'>,
  resource: Resource<T>,
  { metadata }: T,
  spec: unknown,
): Promise<T> {
  const { name = '', namespace = '', uid, resourceVersion } = metadata;
  return kube.jsonPatch(resource, { namespace, name }, [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'replace', path: '/spec', value: spec },
  ]);
}
