import type { Clock } from './clock.ts';
import { createFairPool } from './fair-pool.ts';
import type { CacheReader } from './informer/index.ts';
import { findObject, type KubeClient, type KubeObject, type ObjectRef, type Resource } from './kube/index.ts';
import { createSharedReads } from './shared-reads.ts';

/**
 * An object as the API server has it after the call, for what a cache does not know (ADR 0156); undefined where there is none. The
 * read is charged to `tenant`, by default to the namespace of the object: AppError `unavailable` where that has too many in line,
 * or had to wait for too long. Throws where the server does not answer: there is no verdict yet.
 */
export type ServerReads<T extends KubeObject> = (ref: ObjectRef, tenant?: string) => Promise<T | undefined>;

interface ServerReadsDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly resource: Resource<T>;
  /** Takes what is found. */
  readonly cache?: Pick<CacheReader<T>, 'remember'>;
  readonly bounds: ReadBounds;
}

interface ReadBounds {
  /** Reads of one kind that are under way at once, those that wait, and for how long. */
  readonly size: number;
  readonly waiting: number;
  readonly waitMs: number;
  /** How long one has. Default: as long as any call. */
  readonly readMs?: number;
}

/** Tenants share the reads. Calls of one tenant for one object that wait at the same time are one, and none joins an earlier read. */
export function createServerReads<T extends KubeObject>(deps: ServerReadsDeps<T>): ServerReads<T> {
  const { kube, clock, resource, cache } = deps;
  const { readMs, ...bounds } = deps.bounds;
  const pool = createFairPool({ ...bounds, clock });
  const options = readMs === undefined ? {} : { timeoutMs: readMs };
  const read = createSharedReads(async (key): Promise<T | undefined> => {
    const [tenant, namespace, name] = JSON.parse(key) as [string, string | null, string];
    const ref = { namespace: namespace ?? undefined, name };
    const object = await pool.run({ tenant }, () => findObject(kube, resource, ref, options));
    if (object !== undefined) cache?.remember(object);
    return object;
  });
  // One tenant's question in another one's line would wait as long as that.
  return ({ namespace, name }, tenant = namespace ?? name) => read(JSON.stringify([tenant, namespace ?? null, name]));
}

/** For the API: a small part of its connections to the server, so that names that do not exist cannot take them all. */
export const lookUpBounds: ReadBounds = { size: 10, waiting: 1_250, waitMs: 20_000 };

/** For the controllers: few, as each object may have 1.5 MiB, and a server that hangs holds no place for long. */
export const verdictBounds: ReadBounds = { size: 8, waiting: 4_096, waitMs: 20_000, readMs: 8_000 };
