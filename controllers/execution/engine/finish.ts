import type { Phase } from '../../../crds/schema/workflow-execution-status.ts';
import type { Draft } from './draft.ts';
import { noteEndStimulus } from './end-stimulus.ts';
import type { Failure } from './facts.ts';
import { finalOutput } from './final-output.ts';

/** Ends the execution. Whatever still runs for it is stopped by `releasePods` and `releaseChildren`. */
export function finish(draft: Draft, phase: Extract<Phase, 'completed' | 'failed' | 'cancelled'>, why?: Failure): void {
  if (phase === 'completed') finalOutput(draft);
  const { reason, message } = why ?? { reason: 'Completed', message: `ended in state ${draft.status.state ?? ''}` };
  draft.change({ kind: 'finished', phase, at: draft.time, reason, message });
  noteEndStimulus(draft);
  sayFinished(draft, phase === 'completed' && why === undefined, reason, message);
}

/** A run that completed in its first decision gets no Event, which would cost as much as the run itself. */
function sayFinished(draft: Draft, isGood: boolean, reason: string, message: string): void {
  if (!isGood) draft.say('Warning', reason, message);
  else if (draft.facts.execution.status !== undefined) draft.say('Normal', reason, message);
}
