export { type AuditEntry, type AuditTrail, auditTypes, createAuditTrail } from './audit.ts';
export { ShareUsedError } from './kv/share-used-error.ts';
export { buckets } from './kv/buckets.ts';
export { type BusOptions, busOptions, busVariables } from './bus-config.ts';
export { type BusObserver, createBusMetrics } from './bus-observer.ts';
export { createEventBus } from './create-event-bus.ts';
export type { BucketDefinition } from './kv/bucket-definition.ts';
export type { BusEvent, EventBus, EventPublisher, EventSink, KeyValueBucket, KeyValueEntry } from './event-bus.ts';
export type { ObjectBucket, ObjectBucketDefinition, ObjectBuckets, ObjectPage } from './objects/object-bucket.ts';
export { duplicateWindowMs } from './streams.ts';
export { auditTopic } from './subjects.ts';
export type { KeyValueChange, KeyValueWatcher } from './kv/key-value-watcher.ts';
export { busLimits } from './limits.ts';
export type {
  MessageStream,
  MessageStreams,
  TenantLogs,
  TenantLogsDefinition,
  NewMessage,
  StreamDefinition,
  StreamMessage,
} from './publish/message-stream.ts';
export type { Address, BusRequest, HandleRequest, Requester, Responder } from './request/requester.ts';
export { bucketKey } from './subjects.ts';
export type {
  Delivery,
  HandleDelivery,
  Subscriber,
  Subscription,
  SubscriptionDefinition,
} from './subscribe/subscription.ts';
