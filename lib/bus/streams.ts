import type { StreamConfig } from '@nats-io/jetstream';
import type { BusOptions, Retention } from './bus-config.ts';
import type { BucketDefinition } from './kv/bucket-definition.ts';
import { blockUseMs } from './kv/key-accounts.ts';
import { busLimits } from './limits.ts';
import type { ObjectBucketDefinition } from './objects/object-bucket.ts';
import { streamNames, subjectRoots, token } from './subjects.ts';

/** A stream as it has to be; what is not named is left to the server. */
export type WantedStream = Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>;

/** How long the server knows the ids of stored events: one that is published again within this time is stored once. */
export const duplicateWindowMs = 10 * 60_000;

/** No client deduplicates the messages of a bucket by id; the server wants a window no longer than the time to live. */
const bucketWindowMs = 1_000;

export const nanos = (ms: number): number => ms * 1_000_000;

/**
 * The two streams of events: the oldest events go first when age or size is reached. How many messages a subject may have
 * is no setting: it follows from what the stream holds.
 */
export function eventStreams({ events, audit, replicas }: Pick<BusOptions, 'events' | 'audit' | 'replicas'>) {
  return [
    eventStream('events', events, replicas),
    // A publisher cannot take back stored records.
    { ...eventStream('audit', audit, replicas), deny_delete: true, deny_purge: true },
  ];
}

/** The streams of events, of which each subject has a share (`openShares`). */
export const sharedStreams = ({ events, audit }: Pick<BusOptions, 'events' | 'audit'>) => [
  { name: streamNames.events, maxBytes: events.maxBytes },
  { name: streamNames.audit, maxBytes: audit.maxBytes },
];

function eventStream(which: keyof typeof streamNames, retention: Retention, replicas: number): WantedStream {
  return {
    name: streamNames[which],
    subjects: [`${subjectRoots[which]}.>`],
    storage: 'file',
    retention: 'limits',
    discard: 'old',
    max_age: nanos(retention.maxAgeMs),
    max_bytes: retention.maxBytes,
    duplicate_window: nanos(Math.min(duplicateWindowMs, retention.maxAgeMs)),
    compression: 's2',
    num_replicas: replicas,
  };
}

/** A bucket's own name on a server that others use too. */
export const bucketName = ({ name }: Pick<BucketDefinition, 'name'>): string => `windlass_${name}`;

/** The stream behind a bucket, as clients of NATS name it. */
export const bucketStreamName = (definition: Pick<BucketDefinition, 'name'>): string => `KV_${bucketName(definition)}`;

/** Subject of the messages that hold a key's values. */
export const bucketSubject = (definition: BucketDefinition, key: string): string =>
  `$KV.${bucketName(definition)}.${key}`;

/**
 * The stream behind a bucket, as clients of NATS expect it. A server without room refuses new keys: forgetting old ones
 * before their time would let a duplicate through.
 */
export function bucketStream(definition: BucketDefinition, replicas: number): WantedStream {
  return {
    name: bucketStreamName(definition),
    subjects: [bucketSubject(definition, '>')],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    max_age: nanos(definition.ttlMs),
    max_msgs_per_subject: 1,
    duplicate_window: nanos(Math.min(bucketWindowMs, definition.ttlMs)),
    allow_rollup_hdrs: true,
    // The mark of a freed key ends sooner than a key.
    allow_msg_ttl: true,
    deny_delete: true,
    // A read from a follower could miss what was just written.
    allow_direct: false,
    num_replicas: replicas,
    ...(definition.isWatched === true
      ? { allow_msg_ttl: true, subject_delete_marker_ttl: nanos(busLimits.endMarkerMs) }
      : {}),
  };
}

/** Subject of the blocks of keys that a tenant has taken of a bucket. */
export const accountSubject = (definition: BucketDefinition, tenant: string): string =>
  `${accountRoot}.${definition.name}.${token(tenant)}`;

const accountRoot = 'windlass.keys';

/** The stream of what tenants have taken of a bucket. A block of keys lives until all keys that were taken of it have ended. */
export function accountStream(definition: BucketDefinition, replicas: number): WantedStream {
  return {
    name: `WINDLASS_KEYS_${definition.name}`,
    subjects: [`${accountRoot}.${definition.name}.*`],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    max_age: nanos(definition.ttlMs + blockUseMs),
    duplicate_window: nanos(bucketWindowMs),
    // The oldest block of a tenant is read so.
    allow_direct: true,
    num_replicas: replicas,
  };
}

/** Names of the streams behind buckets of objects begin so, for every client of NATS. */
const objectPrefix = 'OBJ_';

export const objectStreamName = (definition: Pick<ObjectBucketDefinition, 'name'>): string =>
  `${objectPrefix}${bucketName(definition)}`;

/** The rest of the name of a stream behind a bucket of objects whose name begins with a text. */
export function objectBucketRest(stream: string, prefix: string): string | undefined {
  const begin = objectStreamName({ name: prefix });
  return stream.startsWith(begin) ? stream.slice(begin.length) : undefined;
}

/** Subjects of a bucket of objects, as clients of NATS expect them. */
export const objectSubjects = (definition: Pick<ObjectBucketDefinition, 'name'>) => {
  const root = `$O.${bucketName(definition)}`;
  return {
    infos: `${root}.M.>`,
    infoOf: (name: string) =>
      `${root}.M.${Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_')}`,
    chunks: `${root}.C.>`,
    chunksOf: (nuid: string) => `${root}.C.${nuid}`,
  };
};

/**
 * The stream behind a bucket of objects. It reserves no room: its writers keep each tenant within its share, and a
 * server without room refuses new messages.
 */
export function objectStream(definition: ObjectBucketDefinition, replicas: number): WantedStream {
  const { chunks, infos } = objectSubjects(definition);
  return {
    name: objectStreamName(definition),
    subjects: [chunks, infos],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    max_age: nanos(definition.ttlMs),
    duplicate_window: nanos(Math.min(bucketWindowMs, definition.ttlMs)),
    allow_rollup_hdrs: true,
    // Lists are read in batches, which only direct reads give.
    allow_direct: true,
    num_replicas: replicas,
  };
}
