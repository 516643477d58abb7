import { limits } from '../../../crds/limits.ts';
import type { State } from '../../../crds/schema/state.ts';
import type { StateKind } from '../../../crds/schema/state-kinds.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { instantAfter } from '../../../lib/instant.ts';
import { ownMember } from '../../../lib/own-member.ts';
import type { Draft } from './draft.ts';
import { finish } from './finish.ts';
import type { CurrentVisit } from './reduce.ts';

/** Enters a state, or ends the execution where that would be one visit too many (requirements AMB-068). */
export function enter(draft: Draft, name: string): void {
  const { status } = draft;
  const state = ownMember(draft.spec.states, name);
  if (state === undefined) throw new TypeError(`state ${name} is not in a definition that was accepted`);
  const visit = (ownMember(status.visits, name) ?? 0) + 1;
  const most = state.max_state_visits ?? limits.stateVisitsDefault;
  if (visit > most) {
    const message = `state ${name} would be entered ${visit} times; max_state_visits is ${most}`;
    return finish(draft, 'failed', { reason: 'MaxStateVisitsExceeded', message });
  }
  draft.change({
    kind: 'entered',
    visit: { state: name, kind: state.kind, visit, entered_at: draft.time, ...extras(draft, state, visit) },
  });
}

function extras(draft: Draft, state: State, visit: number): Partial<CurrentVisit> {
  const deadline = deadlineOf(draft, state);
  const signals = visit === 1 ? 0 : (draft.facts.execution.spec.signals?.length ?? 0);
  return {
    ...(deadline === undefined ? {} : { deadline }),
    ...(state.kind === 'Human' && signals > 0 ? { signals_before: signals } : {}),
  };
}

/**
 * A timeout that the manifest sets counts from entry. The default counts from the start of the first container or child
 * (`started.ts`), and a Human state without a timeout waits for ever (requirements AMB-007, AMB-190).
 */
function deadlineOf(draft: Draft, state: State): string | undefined {
  const timeout = state.timeout ?? (startsLater.has(state.kind) ? undefined : limits.stateTimeoutDefault);
  if (timeout === undefined) return undefined;
  return instantAfter(draft.now, parseDuration(timeout, { field: 'timeout' }));
}

const startsLater: ReadonlySet<StateKind> = new Set([
  'Human',
  'System',
  'ContainerRun',
  'ParallelContainerRun',
  'Subworkflow',
  'Agent',
  'ParallelAgents',
]);
