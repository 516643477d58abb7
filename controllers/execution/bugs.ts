/** Executions about which deciding threw what it must never throw, with how often in a row. */
export interface Bugs {
  /** Counts one more, and says whether it is worth another try: a deployment that mends it may be on its way. */
  mayTryAgain(uid: string): boolean;
  forget(uid: string): void;
}

/** Tries before an execution is given up; the queue lets ever more time pass between them. */
const bugTriesMax = 5;

export function createBugs(): Bugs {
  const tries = new Map<string, number>();
  return {
    mayTryAgain(uid) {
      const count = (tries.get(uid) ?? 0) + 1;
      tries.set(uid, count);
      return count < bugTriesMax;
    },
    forget: (uid) => void tries.delete(uid),
  };
}
