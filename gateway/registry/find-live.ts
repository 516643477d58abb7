import type { Clock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { findWanted, type KubeClient, type KubeObject, type Resource } from '../../lib/kube/index.ts';
import { createUnknownIds } from '../../lib/unknown-ids.ts';

interface LiveDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
  readonly resource: Resource<T>;
}

/**
 * The object of a uid in one of these namespaces, which another replica may have made a moment ago, from the server. It lists
 * metadata alone, few lists at a time. Ids that the server did not have are known for a minute: it makes them at random, so
 * that none can come to be (ADR 0025).
 */
type FindLive<T> = (places: readonly string[], uid: string) => Promise<T | undefined>;

const lists = { size: 2, waiting: 64, waitMs: 5_000 };
const unknownIds = { capacity: 10_000, lifeMs: 60_000 };

export function createFindLive<T extends KubeObject>({ kube, clock, resource }: LiveDeps<T>): FindLive<T> {
  const pool = createFairPool({ ...lists, clock });
  const unknown = createUnknownIds(clock, unknownIds);
  return async (places, uid) => {
    const [tenant = ''] = places;
    const key = JSON.stringify([places, uid]);
    const isWanted = ({ metadata }: KubeObject): boolean => metadata.uid === uid;
    return pool.run({ tenant }, async () => {
      if (unknown.has(key)) return undefined;
      for (const namespace of places) {
        const [found] = await findWanted(kube, resource, { namespace, isWanted });
        if (found !== undefined) return found;
      }
      unknown.add(key);
      return undefined;
    });
  };
}
