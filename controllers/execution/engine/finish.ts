import type { Phase } from '../../../crds/schema/workflow-execution-status.ts';
import type { Draft } from './draft.ts';
import { noteEndStimulus } from './end-stimulus.ts';
import type { Failure } from './facts.ts';
import { finalOutput } from './final-output.ts';

/** Ends the execution. Whatever still runs for it is stopped by `releasePods` and `releaseChildren`. */
export function finish(draft: Draft, phase: Extract<Phase, 'completed' | 'failed' | 'cancelled'>, why?: Failure): void {
  const { status } = draft;
  if (phase === 'completed') finalOutput(draft);
  status.phase = phase;
  status.finished_at = draft.time;
  status.reason = why?.reason ?? 'Completed';
  status.message = why?.message ?? `ended in state ${status.state ?? ''}`;
  if (status.current !== undefined) status.interrupted = status.current;
  delete status.current;
  noteEndStimulus(draft);
  tell(draft, phase === 'completed' && why === undefined, status.reason, status.message);
}

/** A run that completed in its first decision gets no Event, which would cost as much as the run itself. */
function tell(draft: Draft, isGood: boolean, reason: string, message: string): void {
  if (!isGood) draft.say('Warning', reason, message);
  else if (draft.facts.execution.status !== undefined) draft.say('Normal', reason, message);
}
