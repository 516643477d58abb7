export {
  type Controller,
  createController,
  type Reconcile,
} from './controller.ts';
export { createEventRecorder, type EventRecorder, type Happening } from './events.ts';
export { createLeaseElection, type LeaseElection } from './lease-election.ts';
export { LostLeadership } from './tenure.ts';
export { type Keeper, startKeeper } from './keeper/keeper.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { type ReconcileResult, RefusedError } from './outcome.ts';
export { runReplica } from './run.ts';
