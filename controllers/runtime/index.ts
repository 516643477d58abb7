export { type Controller, createController } from './controller.ts';
export { createEventRecorder } from './events.ts';
export { type Keeper, startKeeper } from './keeper/keeper.ts';
export { createLeaseElection, type LeaseElection } from './lease-election.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { runReplica } from './run.ts';
