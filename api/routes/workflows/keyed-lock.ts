/** Lets calls of the same key in one after another. */
type KeyedLock = <T>(key: string, call: () => Promise<T>) => Promise<T>;

/** Within one process; what other processes write meanwhile is for resource versions to tell. */
export function createKeyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>();
  return async (key, call) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(call, call);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
