import { pointerOf } from '../../../crds/json-pointer.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ErrorContract } from '../../../lib/http/contract.ts';
import type { JsonPatchOperation, Resource } from '../../../lib/kube/index.ts';
import { findObject, isAbsent, type KubeClient, type KubeObject, whileRaced } from '../../../lib/kube/index.ts';
import { sameJson } from '../../../lib/same-json.ts';
import { notFound } from '../not-found.ts';

interface ObjectWithSpec<S extends object> extends KubeObject {
  readonly spec: S;
}

/** The changed object and its change. */
interface Change<S extends object, T extends ObjectWithSpec<S>> {
  readonly resource: Resource<T>;
  /** As it is known; only name, namespace and uid count. */
  readonly object: { readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string } };
  /** The spec that is wanted instead of the latest one; may throw a refusal. */
  readonly change: (spec: S) => S;
  /** Answered where the object is gone. */
  readonly unknown: ErrorContract;
}

interface ChangeDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Changes the spec of an object in one step; what is so already is not written. @throws HttpError 404, AppError 409 */
export async function changeSpec<S extends object, T extends ObjectWithSpec<S>>(
  { kube, clock }: ChangeDeps,
  { resource, object, change, unknown }: Change<S, T>,
): Promise<T> {
  const { name, namespace = '', uid } = object.metadata;
  const done = whileRaced(clock, async () => {
    const latest = await findObject(kube, resource, { namespace, name });
    if (latest === undefined || latest.metadata.uid !== uid) throw notFound(unknown);
    const changes = changesOf(latest.spec, change(latest.spec));
    return changes.length === 0 ? latest : write(kube, resource, latest, changes);
  });
  return done.catch((error: unknown) => {
    if (isAbsent(error)) throw notFound(unknown, { cause: error });
    throw error;
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** Each field that differs. No other is sent: arguments of a run may be large, or nested too deep to be written. */
function changesOf(from: object, to: object): readonly JsonPatchOperation[] {
  const before: Fields = { ...from };
  const after: Fields = { ...to };
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !sameJson(before[name], after[name]))
    .map((name) => {
      const path = `/spec${pointerOf(name)}`;
      return after[name] === undefined ? { op: 'remove', path } : { op: 'add', path, value: after[name] };
    });
}

/** The generation counts changes of the spec alone: what a relay writes into the status fails no change. */
function write<T extends KubeObject>(
  kube: Pick<KubeClient, 'jsonPatch'>,
  resource: Resource<T>,
  { metadata }: T,
  changes: readonly JsonPatchOperation[],
): Promise<T> {
  const { name = '', namespace = '', uid, generation } = metadata;
  return kube.jsonPatch(resource, { namespace, name }, [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/generation', value: generation },
    ...changes,
  ]);
}
