import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import type { Draft } from './draft.ts';
import type { Failure } from './facts.ts';
import { finalOutput } from './final-output.ts';

/** Ends the execution. Whatever still runs for it is stopped by `releasePods` and `afterwards`. */
export function finish(draft: Draft, phase: Extract<Phase, 'completed' | 'failed' | 'cancelled'>, why?: Failure): void {
  const { status } = draft;
  if (phase === 'completed') finalOutput(draft);
  status.phase = phase;
  status.finished_at = draft.time;
  status.reason = why?.reason ?? 'Completed';
  status.message = why?.message ?? `ended in state ${status.state ?? ''}`;
  stopChild(draft);
  delete status.current;
  draft.say(phase === 'completed' ? 'Normal' : 'Warning', status.reason, status.message);
}

/** Cancelling goes down to the children (spec 1 §3.3); a fire-and-forget child is on its own. */
function stopChild(draft: Draft): void {
  const { current } = draft.status;
  if (current?.child === undefined) return;
  const child = draft.facts.children.find(({ name }) => name === current.child?.name);
  const state = draft.currentState();
  if (child === undefined || child.cancelled || (state?.kind === 'Subworkflow' && state.mode === 'fire_and_forget')) {
    return;
  }
  const reason = `the execution that started this one ended: ${draft.status.message ?? ''}`;
  draft.act({ kind: 'cancel_child', name: child.name, uid: child.uid, reason: reason.slice(0, 1_024) });
}
