/**
 * Children that this process has made, which their parents have not seen yet. One that is gone again before the watch
 * has shown it would be made a second time. After a restart the child itself tells, for it stays until its parent has
 * written it down (`awaited`).
 */
export interface MadeChildren {
  add(parentUid: string, name: string, uid: string): void;
  /** Uids by name. */
  of(parentUid: string): ReadonlyMap<string, string>;
  forget(parentUid: string): void;
}

const noChildren: ReadonlyMap<string, string> = new Map();

export function createMadeChildren(): MadeChildren {
  const children = new Map<string, Map<string, string>>();
  return {
    add: (parentUid, name, uid) =>
      void children.set(parentUid, (children.get(parentUid) ?? new Map<string, string>()).set(name, uid)),
    of: (parentUid) => children.get(parentUid) ?? noChildren,
    forget: (parentUid) => void children.delete(parentUid),
  };
}
