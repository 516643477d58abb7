import type { State } from '../../../crds/schema/state.ts';
import type { StateKind } from '../../../crds/schema/state-kinds.ts';
import type { Draft } from '../engine/draft.ts';
import type { CurrentVisit } from '../engine/reduce.ts';
import type { StateHandler, VisitUpdate } from '../engine/state-handler.ts';
import { agent } from './agent.ts';
import { containerRun } from './container-run.ts';
import { human } from './human.ts';
import { parallelAgents } from './parallel-agents.ts';
import { parallelContainerRun } from './parallel-container-run.ts';
import { subworkflow } from './subworkflow.ts';
import { system } from './system.ts';

/** A state kind that is missing here fails to compile. */
const handlers: { readonly [K in StateKind]: StateHandler<K> } = {
  Agent: agent,
  System: system,
  Human: human,
  ParallelAgents: parallelAgents,
  ContainerRun: containerRun,
  ParallelContainerRun: parallelContainerRun,
  Subworkflow: subworkflow,
};

/** Runs the handler of the state's kind. */
export function runState(draft: Draft, state: State, current: CurrentVisit): VisitUpdate {
  // The kind picks handler and state together, which the type system cannot see through a union.
  const handler = handlers[state.kind] as (draft: Draft, state: State, current: CurrentVisit) => VisitUpdate;
  return handler(draft, state, current);
}
