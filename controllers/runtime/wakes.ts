import type { InformerChange } from '../../lib/informer/index.ts';
import type { KubeObject } from '../../lib/kube/index.ts';

type WithGeneration = KubeObject & { readonly status?: { readonly observedGeneration?: number } };

/** The key of an object that another client has changed: our own write is no news. */
export const wakeItself = ({ key, own }: InformerChange<KubeObject>): string[] => (own ? [] : [key]);

/**
 * The same for objects that other reconciles write as well: a parent makes and cancels its children, an execution makes its
 * volumes. Such a write is our own and yet news to the reconcile of the object itself.
 */
export const wakeUnseen = ({ key, after, own }: InformerChange<WithGeneration>): string[] =>
  !own || isUnseen(after) ? [key] : [];

const isUnseen = (object: WithGeneration | undefined): boolean =>
  object !== undefined && object.status?.observedGeneration !== object.metadata.generation;
