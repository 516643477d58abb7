export {
  type Controller,
  createController,
  type Reconcile,
} from './controller.ts';
export { createEventRecorder, type EventRecorder, type RecordedEvent } from './events.ts';
export { type Keeper, startKeeper } from './keeper/keeper.ts';
export { createLeaseElection, type LeaseElection } from './lease-election.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { RefusedError } from './outcome.ts';
export { runReplica } from './run.ts';
export { LostLeadership } from './tenure.ts';
