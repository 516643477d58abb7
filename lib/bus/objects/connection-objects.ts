import type { JetStreamClient, JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { ObjectInfo, ObjectStore } from '@nats-io/obj';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { codeOf, errorCodes } from '../bus-error.ts';
import { noneIfAbsent, readDirect } from '../direct-batch.ts';
import type { ObjectBucket, ObjectBucketDefinition, ObjectPage } from './object-bucket.ts';
import { prepareStream } from '../prepare-stream.ts';
import { readObject } from './read-object.ts';
import { sweepStrays } from './sweep-strays.ts';
import { writeObject } from './write-object.ts';
import { bucketName, objectBucketRest, objectStream, objectStreamName, objectSubjects } from '../streams.ts';

/** Buckets of objects over one connection. */
export interface ConnectionObjects {
  open(definition: ObjectBucketDefinition): Promise<ObjectBucket>;
  bytes(prefix: string): Promise<ReadonlyMap<string, number>>;
}

interface ConnectionObjectsDeps {
  readonly client: JetStreamClient;
  readonly manager: Pick<JetStreamManager, 'streams' | 'direct'>;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly replicas: number;
}

/** The library is loaded when the first bucket is opened. */
export function createConnectionObjects(deps: ConnectionObjectsDeps): ConnectionObjects {
  const { client, manager, logger, clock, replicas } = deps;
  const opened = new Map<string, Promise<ObjectBucket>>();
  const prepared = new Map<string, Promise<void>>();
  const prepare = (definition: ObjectBucketDefinition): Promise<void> => {
    const { name } = definition;
    const known =
      prepared.get(name) ?? prepareStream({ streams: manager.streams, logger }, objectStream(definition, replicas));
    prepared.set(name, known);
    return known;
  };
  const open = async (definition: ObjectBucketDefinition): Promise<ObjectBucket> => {
    const { Objm } = await import('@nats-io/obj');
    const store = await new Objm(client).open(bucketName(definition), false);
    const places = {
      client,
      clock,
      store,
      manager,
      stream: objectStreamName(definition),
      subjects: objectSubjects(definition),
      ttlMs: definition.ttlMs,
    };
    const forget = (): void => void prepared.delete(definition.name);
    return bucketOf(places, { prepare: () => prepare(definition), forget });
  };
  return {
    open(definition) {
      const known = opened.get(definition.name) ?? open(definition);
      opened.set(definition.name, known);
      return known;
    },
    bytes: (prefix) => bytesOf(manager, prefix),
  };
}

async function bytesOf({ streams }: Pick<JetStreamManager, 'streams'>, prefix: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const { config, state } of streams.list()) {
    const rest = objectBucketRest(config.name, prefix);
    if (rest !== undefined) found.set(rest, state.bytes);
  }
  return found;
}

interface ObjectsDeps {
  readonly client: Pick<JetStreamClient, 'publish'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly store: ObjectStore;
  readonly manager: Pick<JetStreamManager, 'streams' | 'direct'>;
  readonly stream: string;
  readonly subjects: ReturnType<typeof objectSubjects>;
  readonly ttlMs: number;
}

/** The stream is made by the first write: a reader makes none. */
interface Preparing {
  readonly prepare: () => Promise<void>;
  /** A write failed: an operator may have deleted the stream. */
  readonly forget: () => void;
}

/** Messages that one request for a page looks at, and requests for one page: a page may then be short. */
const windowLength = 512;
const windowsMax = 40;

/**
 * The library writes objects. Lists are read from the stream: the library's list is of the whole bucket. An alias is a link of
 * the object store, in a space of names of its own.
 */
function bucketOf(deps: ObjectsDeps, { prepare, forget }: Preparing): ObjectBucket {
  const { clock, stream, subjects, manager } = deps;
  const reading = { clock, stream, chunksOf: subjects.chunksOf, direct: manager.direct };
  return {
    async put({ name, alias, row, body }) {
      try {
        await prepare();
        const info = await writeObject(deps.store, { name, metadata: { row } }, body);
        await point(deps, alias, info);
      } catch (error) {
        forget();
        throw error;
      }
    },
    get: (nameOrAlias, bytesMax) =>
      unlessGone(undefined, () => readObject(reading, bytesMax, () => find(deps, nameOrAlias))),
    page: (query) => unlessGone({ rows: [], next: undefined }, () => page(deps, query)),
    trim: (bytes) => unlessGone(0, () => trim(deps, bytes)),
  };
}

/**
 * The bucket has no write yet, or its stream was deleted. A server that has not opened its store yet knows no
 * stream either: that is an error, or what is kept would pass for lost.
 */
async function unlessGone<T>(nothing: T, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (codeOf(error) === errorCodes.streamNotFound) return nothing;
    throw error;
  }
}

const find = async (deps: ObjectsDeps, nameOrAlias: string): Promise<ObjectInfo | null> =>
  (await deps.store.info(nameOrAlias)) ?? linked(deps, nameOrAlias);

/** No name of an object begins so: they are uids. */
const aliasPrefix = 'name/';
const aliasOf = (alias: string): string => `${aliasPrefix}${alias}`;

/**
 * The library does not replace a link, and refuses one where another writer was first. Here one message takes the place of that of
 * before: the last writer has the name, and a reader finds one of the objects at any time.
 */
async function point({ client, subjects }: ObjectsDeps, alias: string, to: ObjectInfo): Promise<void> {
  const name = aliasOf(alias);
  const link = { name, bucket: to.bucket, options: { link: { bucket: to.bucket, name: to.name } } };
  const { headers } = await import('@nats-io/transport-node');
  const replacing = headers();
  replacing.set('Nats-Rollup', 'sub');
  await client.publish(subjects.infoOf(name), JSON.stringify(link), { headers: replacing });
}

async function linked({ store }: ObjectsDeps, alias: string): Promise<ObjectInfo | null> {
  const to = (await store.info(aliasOf(alias)))?.options?.link?.name;
  return to === undefined ? null : store.info(to);
}

async function page(deps: ObjectsDeps, { before, limit }: Parameters<ObjectBucket['page']>[0]): Promise<ObjectPage> {
  const { first_seq: first, last_seq: last } = (await deps.manager.streams.info(deps.stream)).state;
  const rows: string[] = [];
  let end = Math.min(before ?? last + 1, last + 1);
  for (let windows = 0; windows < windowsMax && end > first; windows += 1) {
    const start = Math.max(first, end - windowLength);
    for (const message of (await infosFrom(deps, start, end)).toReversed()) {
      const row = rowOf(message);
      if (row === undefined) continue;
      if (rows.length === limit) return { rows, next: message.seq + 1 };
      rows.push(row);
    }
    end = start;
  }
  return { rows, next: end > first ? end : undefined };
}

/** Messages about objects from one place up to another. */
async function infosFrom(
  { manager, stream, subjects }: ObjectsDeps,
  start: number,
  end: number,
): Promise<readonly StoredMsg[]> {
  const query = { seq: start, batch: end - start, next_by_subj: subjects.infos };
  return (await readDirect(manager.direct, stream, query).catch(noneIfAbsent)).filter(({ seq }) => seq < end);
}

/** Undefined for an alias, and for an object that was deleted. */
function rowOf(message: StoredMsg): string | undefined {
  const { deleted, metadata } = message.json<ObjectInfo>();
  return deleted === true ? undefined : metadata?.['row'];
}

/** Objects looked at for one round of deleting. */
const trimBatch = 64;
/** Subject, headers and frame of a stored message, about: too few would delete an object more, too many take another round. */
const besideBytes = 200;

async function trim(deps: ObjectsDeps, bytes: number): Promise<number> {
  const { manager, stream } = deps;
  for (let round = 0; ; round += 1) {
    const { state } = await manager.streams.info(stream);
    if (round === 0 && state.bytes > bytes && (await sweepStrays(deps, aliasPrefix))) continue;
    if (state.bytes <= bytes || state.messages === 0) return state.bytes;
    const removed = await removeOldest(deps, state.first_seq, state.bytes - bytes);
    if (removed === 0) return state.bytes;
  }
}

/** Removes the oldest objects, with their aliases, until so many bytes are gone; gives the number of objects. */
async function removeOldest(deps: ObjectsDeps, first: number, bytes: number): Promise<number> {
  const { manager, stream, subjects } = deps;
  const query = { seq: first, batch: trimBatch, next_by_subj: subjects.infos };
  let [removed, freed] = [0, 0];
  for (const message of await readDirect(manager.direct, stream, query).catch(noneIfAbsent)) {
    if (freed >= bytes) break;
    const {
      name,
      nuid,
      size = 0,
      chunks = 0,
      options,
    } = message.json<Partial<ObjectInfo> & Pick<ObjectInfo, 'name'>>();
    if (options?.link !== undefined && (await isInUse(deps, options.link.name ?? ''))) continue;
    if (nuid !== undefined) await manager.streams.purge(stream, { filter: subjects.chunksOf(nuid) });
    await manager.streams.purge(stream, { filter: subjects.infoOf(name) });
    removed += 1;
    freed += size + message.data.byteLength + (1 + chunks) * besideBytes;
  }
  return removed;
}

const isInUse = async ({ store }: ObjectsDeps, name: string): Promise<boolean> => (await store.info(name)) !== null;
