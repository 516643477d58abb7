import { limits } from '../../../crds/limits.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { Phase } from '../../../crds/schema/workflow-execution-status.ts';
import { AppError } from '../../../lib/errors.ts';
import { renderOutput } from '../../../lib/final-output.ts';
import { WorkBudgetExceeded } from '../../../lib/work/work.ts';
import { type Draft, LackingFacts } from './draft.ts';
import { noteEndStimulus } from './end-stimulus.ts';
import type { Failure } from './facts.ts';
import { lackingValues } from './lacking-values.ts';
import { scopeOf } from './scope.ts';

/** Ends the execution. `releasePods` and `releaseChildren` stop all that still runs for it. */
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

/**
 * Renders `output_template` on the final Blackboard and gives each text its type (WF-API-03). A template that cannot
 * be rendered leaves no output and a warning: the work itself is done and stays completed.
 */
function finalOutput(draft: Draft): void {
  const { output_template: outputTemplate, output_schema: outputSchema } = draft.spec;
  if (outputTemplate === undefined) return;
  try {
    const result = draft.work.during('rendering output_template', () =>
      renderOutput({ outputTemplate, outputSchema }, scopeOf(draft), draft.facts.loaded, draft.work),
    );
    if (result.kind === 'needs') throw lackingValues(draft, result.refs);
    draft.warn(...result.warnings);
    draft.weigh(result.output);
    keepOutput(draft, result.output as Record<string, Json>);
  } catch (error) {
    if (error instanceof LackingFacts || !(error instanceof AppError)) throw error;
    // Once more in a turn of its own.
    if (error instanceof WorkBudgetExceeded && draft.hasProgress && draft.facts.refused === undefined) throw error;
    draft.warn(`output_template: ${error.message}`);
  }
}

function keepOutput(draft: Draft, output: Record<string, Json>): void {
  const isSmall = Buffer.byteLength(JSON.stringify(output)) <= limits.inlineFinalOutputBytes;
  if (isSmall) draft.change({ kind: 'status', fields: { final_output: output } });
  else draft.setFinalOutput(output);
}
