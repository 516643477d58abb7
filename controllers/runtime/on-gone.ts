import type { Informer } from '../../lib/informer/index.ts';
import type { KubeObject } from '../../lib/kube/index.ts';

/**
 * Calls `forget` with the uid of each object that has left the cache, also where another one has taken its name. State
 * in memory for an object must not outlive it, however it ended.
 */
export function onGone<T extends KubeObject>(
  informer: Pick<Informer<T>, 'onChange'>,
  forget: (uid: string) => void,
): void {
  informer.onChange(({ before, after }) => {
    const uid = before?.metadata.uid;
    if (uid !== undefined && uid !== after?.metadata.uid) forget(uid);
  });
}
