export { type AuditEntry, type AuditTrail, createAuditTrail } from './audit.ts';
export { isBusFull } from './bus-error.ts';
export type { KeyRoom } from './kv/key-room.ts';
export { ShareUsedError } from './kv/share-used-error.ts';
export { buckets } from './kv/buckets.ts';
export { busOptions, busVariables } from './bus-config.ts';
export { type BusObserver, createBusMetrics } from './bus-observer.ts';
export { createEventBus } from './create-event-bus.ts';
export type { BucketDefinition } from './kv/bucket-definition.ts';
export type { BusEvent, EventBus, EventSink, KeyValueBucket, KeyValueEntry } from './event-bus.ts';
export type { ObjectBucket } from './objects/object-bucket.ts';
export { duplicateWindowMs } from './streams.ts';
export { auditTopic } from './subjects.ts';
export type { KeyValueChange } from './kv/key-value-watcher.ts';
export { busLimits } from './limits.ts';
export type {
  MessageStream,
  TenantLogs,
  TenantLogsDefinition,
  StreamDefinition,
  StreamMessage,
} from './publish/message-stream.ts';
export type { Address, Responder } from './request/requester.ts';
export { bucketKey } from './subjects.ts';
export type { Delivery, Subscription } from './subscribe/subscription.ts';
