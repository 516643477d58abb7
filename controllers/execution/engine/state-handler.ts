import type { StateOf } from '../../../crds/schema/state.ts';
import type { StateKind } from '../../../crds/schema/state-kinds.ts';
import type { CurrentState } from '../../../crds/schema/workflow-execution-status.ts';
import type { Draft } from './draft.ts';
import type { VisitOutcome } from './outcome.ts';

/**
 * Looks at the facts of the current visit: the outcome where it has ended, otherwise undefined, with what must be
 * started, stopped or waited for in the draft. Called again and again; the same facts give the same answer.
 */
export type StateHandler<K extends StateKind> = (
  draft: Draft,
  state: StateOf<K>,
  current: CurrentState,
) => VisitOutcome | undefined;
