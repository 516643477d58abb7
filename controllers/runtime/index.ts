export type { Cache, CacheReader, Change, IndexFunction } from './cache.ts';
export { createCache } from './cache.ts';
export {
  type Controller,
  type ControllerOptions,
  createController,
  type Reconcile,
  type ReconcileContext,
} from './controller.ts';
export { createEventRecorder, type EventRecorder, type Happening } from './events.ts';
export { type Check, startHealthServer } from './health-server.ts';
export {
  createInformer,
  type Informer,
  type InformerChange,
  type InformerOptions,
  type InvalidObject,
  stripManagedFields,
} from './informer.ts';
export { createLeaseElection, type LeaseElection, LostLeadership } from './lease-election.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export type { ReconcileResult } from './outcome.ts';
export { createProcessRuntime, type ProcessRuntime } from './process-runtime.ts';
export { compareVersions } from './resource-version.ts';
export { runReplica } from './run.ts';
export { statusPatch } from './status-patch.ts';
export { createWorkQueue, type WorkQueue } from './work-queue.ts';
