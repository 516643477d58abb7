import type { StateOf } from '../../../crds/schema/state.ts';
import type { StateKind } from '../../../crds/schema/state-kinds.ts';
import type { Draft } from './draft.ts';
import type { VisitOutcome } from './outcome.ts';
import type { CurrentVisit, VisitChange } from './reduce.ts';

/** The outcome of a visit that has ended, or what changes of one that continues. */
export type VisitUpdate =
  | { readonly outcome: VisitOutcome }
  | { readonly outcome?: undefined; readonly change: VisitChange };

/** The update of a visit that was changed before the rest of it was looked at. */
export const after = (change: VisitChange, update: VisitUpdate): VisitUpdate =>
  update.outcome === undefined ? { change: { ...change, ...update.change } } : update;

/**
 * Looks at the facts of the current visit and gives back its outcome or its change. Things to start, stop or
 * wait for are in the draft. Called again and again; the same facts give the same answer.
 */
export type StateHandler<K extends StateKind> = (draft: Draft, state: StateOf<K>, current: CurrentVisit) => VisitUpdate;
