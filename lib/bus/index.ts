export { type AuditEntry, type AuditTrail, auditTypes, createAuditTrail } from './audit.ts';
export { ShareUsedError } from './kv/share-used-error.ts';
export { buckets } from './kv/buckets.ts';
export { type BusOptions, busOptions, busVariables } from './bus-config.ts';
export { type BusObserver, createBusMetrics } from './bus-observer.ts';
export { createEventBus } from './create-event-bus.ts';
export type {
  BucketDefinition,
  BusEvent,
  EventBus,
  EventPublisher,
  EventSink,
  KeyValueBucket,
  KeyValueEntry,
} from './event-bus.ts';
export type { ObjectBucket, ObjectBucketDefinition, ObjectBuckets, ObjectPage } from './objects/object-bucket.ts';
export { duplicateWindowMs } from './streams.ts';
export { auditTopic } from './subjects.ts';
