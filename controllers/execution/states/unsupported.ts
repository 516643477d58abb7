import type { StateHandler } from '../engine/state-handler.ts';

/** Agents cannot run yet: reaching such a state ends the execution with a reason that says so. */
export const unsupported: StateHandler<'Agent'> & StateHandler<'ParallelAgents'> = (_draft, state, current) => ({
  entry: { status: 'failed', output: null },
  failure: {
    reason: 'UnsupportedStateKind',
    message: `state ${current.state} is of kind ${state.kind}, which this version cannot run yet`,
  },
  fatal: true,
});
