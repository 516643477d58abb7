/**
 * Reads by key, each as of its call or later: who asks while a read is under way waits for the next one, together with all
 * others who do. Any number of calls at one time makes two reads of a key.
 */
export function createSharedReads<R>(read: (key: string) => Promise<R>): (key: string) => Promise<R> {
  const underWay = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<R>>();
  async function after(before: Promise<unknown>, key: string): Promise<R> {
    // The failure of the read before is for those who wait for that one.
    await before.catch(() => undefined);
    next.delete(key);
    const reading = read(key);
    underWay.set(key, reading);
    try {
      return await reading;
    } finally {
      if (underWay.get(key) === reading) underWay.delete(key);
    }
  }
  return (key) => {
    const waiting = next.get(key);
    if (waiting !== undefined) return waiting;
    const before = underWay.get(key) ?? Promise.resolve();
    const promise = after(before, key);
    next.set(key, promise);
    return promise;
  };
}
