import { globalNamespace } from '../../crds/labels.ts';
import { isShared, type Registered, registeredNameOf } from '../../lib/api-spec/index.ts';
import { isBeingDeleted } from '../../lib/being-deleted.ts';
import type { InformerChange } from '../../lib/informer/index.ts';
import { keyOf, type KubeObject, type Namespace } from '../../lib/kube/index.ts';

type RegisteredObject = KubeObject & Registered;

interface Cache<T extends RegisteredObject> {
  byIndex(index: 'namespace', key: string): readonly T[];
  values(): Iterable<T>;
}

/** Keys of the objects that see a namespace: all see what is shared. */
export const seers = <T extends RegisteredObject>(cache: Cache<T>, namespace: string): readonly T[] =>
  namespace === globalNamespace ? [...cache.values()] : cache.byIndex('namespace', namespace);

/** Keys of the objects that claim a name which a change has set free, or which a shared object has taken from them. */
export function claimants<T extends RegisteredObject>(
  { before, after }: InformerChange<RegisteredObject>,
  cache: Cache<T>,
): string[] {
  if (before !== undefined && after !== undefined && isSameClaim(before, after)) return [];
  const taken = after !== undefined && isShared(after) ? after : undefined;
  const names = new Set([before, taken].flatMap((object) => (object === undefined ? [] : registeredNameOf(object))));
  return seers(cache, (before ?? taken)?.metadata.namespace ?? '')
    .filter((object) => names.has(registeredNameOf(object)))
    .map(keyOf);
}

const isSameClaim = (before: RegisteredObject, after: RegisteredObject): boolean =>
  after.metadata.uid === before.metadata.uid &&
  registeredNameOf(after) === registeredNameOf(before) &&
  isBeingDeleted(after) === isBeingDeleted(before);

/** Keys of the objects of a namespace that has become a tenant, or ceased to be one. */
export const inhabitants = <T extends RegisteredObject>(
  { key, before, after }: InformerChange<Namespace>,
  cache: Cache<T>,
): string[] => ((before === undefined) === (after === undefined) ? [] : cache.byIndex('namespace', key).map(keyOf));
