import type { Informer } from './informer.ts';

/** Wakes those that wait for a change of one object. */
export interface WakesByUid {
  /** Calls `wake` at each change of the object, until the function that it gives back is called. */
  onChange(uid: string, wake: () => void): () => void;
  /** Resolves at the next change of the object, or when the signal aborts. */
  changed(uid: string, signal: AbortSignal): Promise<void>;
}

interface Uid {
  readonly metadata: { readonly uid?: string };
}

/** Follows an informer; changes of objects for which nothing waits cost one look-up each. */
export function createWakesByUid<T extends Uid>(informer: Pick<Informer<T>, 'onChange'>): WakesByUid {
  const listeners = new Map<string, Set<() => void>>();
  informer.onChange(({ before, after }) => {
    for (const wake of listeners.get((after ?? before)?.metadata.uid ?? '') ?? []) wake();
  });

  function onChange(uid: string, wake: () => void): () => void {
    const own = listeners.get(uid) ?? new Set();
    listeners.set(uid, own.add(wake));
    return () => {
      own.delete(wake);
      if (own.size === 0 && listeners.get(uid) === own) listeners.delete(uid);
    };
  }

  return {
    onChange,
    async changed(uid, signal) {
      if (signal.aborted) return;
      const woken = Promise.withResolvers<void>();
      const wake = (): void => woken.resolve();
      const forget = onChange(uid, wake);
      signal.addEventListener('abort', wake, { once: true });
      await woken.promise;
      signal.removeEventListener('abort', wake);
      forget();
    },
  };
}
