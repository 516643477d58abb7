import type { Clock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import {
  findObject,
  type KubeClient,
  type KubeObject,
  keyOf,
  type ObjectRef,
  refOfKey,
  type Resource,
} from '../../lib/kube/index.ts';
import { createSharedReads } from '../../lib/shared-reads.ts';

/** Reads of one kind that are under way at once, as each object may have 1.5 MiB; those that wait, and for how long. */
const turns = { size: 8, waiting: 4_096, waitMs: 20_000 };
/** How long one has: a server that hangs holds no place longer. */
const readMs = 8_000;

interface VerdictReadsDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly resource: Resource<T>;
}

/** An object as the API server has it after the call; undefined where there is none. */
export type VerdictReads<T extends KubeObject> = (place: ObjectRef) => Promise<T | undefined>;

/**
 * Reads objects that a cache lacks, before that decides anything final (ADR 0156). Tenants share the reads, and calls for
 * one object wait for one of them. Throws where the server does not answer in time: there is no verdict yet.
 */
export function createVerdictReads<T extends KubeObject>({
  kube,
  clock,
  resource,
}: VerdictReadsDeps<T>): VerdictReads<T> {
  const pool = createFairPool({ ...turns, clock });
  const read = createSharedReads((key) => {
    const { namespace, name } = refOfKey(key);
    return pool.run({ tenant: namespace ?? name }, () =>
      findObject(kube, resource, { namespace, name }, { timeoutMs: readMs }),
    );
  });
  return (place) => read(keyOf({ metadata: place }));
}
