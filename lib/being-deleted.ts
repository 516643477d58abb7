import { ourFinalizers } from '../crds/labels.ts';

/** Any Kubernetes object, of which the deletion is asked here. */
interface Deletable {
  readonly metadata: { readonly deletionTimestamp?: string; readonly finalizers?: readonly string[] };
}

/**
 * Whether a deletion of the object was asked for. Finalizers, which any writer of the object may add, can keep it
 * for as long as they like: it grants nothing and starts nothing any more (ADR 0158).
 */
export const isBeingDeleted = ({ metadata }: Deletable): boolean => metadata.deletionTimestamp !== undefined;

/** For look-ups of what grants or starts something: an object that is being deleted is as good as gone. */
export const unlessBeingDeleted = <T extends Deletable>(object: T | undefined): T | undefined =>
  object === undefined || isBeingDeleted(object) ? undefined : object;

/** Whether a finalizer that is none of ours keeps the object after its deletion, for as long as its writer likes. */
export const isHeldByOthers = ({ metadata }: Deletable): boolean =>
  metadata.finalizers?.some((finalizer) => !ourFinalizers.includes(finalizer)) ?? false;
