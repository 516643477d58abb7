import type { KubeObject } from '../../lib/kube/index.ts';

/** Objects that are looked at a part at a time, in turns. */
interface TurnsByNamespace<T> {
  /** The next part: of each namespace as many as of another, behind those of the part before, from the first again at the end. */
  next(objects: readonly T[]): readonly T[];
}

/** At most `most` objects a turn. */
export function createTurnsByNamespace<T extends KubeObject>(most: number): TurnsByNamespace<T> {
  /** Place of the next object of each namespace. */
  let places = new Map<string, number>();
  return {
    next(objects) {
      const groups = [...Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '')];
      const next = new Map<string, number>();
      const part: T[] = [];
      // The smallest first: what they leave of their parts is for the others.
      groups.sort(([, a], [, b]) => a.length - b.length);
      for (const [index, [namespace, group]] of groups.entries()) {
        const count = Math.min(group.length, Math.ceil((most - part.length) / (groups.length - index)));
        const first = (places.get(namespace) ?? 0) % group.length;
        part.push(...group.slice(first, first + count), ...group.slice(0, Math.max(0, first + count - group.length)));
        next.set(namespace, first + count);
      }
      places = next;
      return part;
    },
  };
}
