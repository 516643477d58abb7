import { limits } from '../../../crds/limits.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import { AppError } from '../../../lib/errors.ts';
import { renderOutput } from '../../../lib/final-output.ts';
import { WorkBudgetExceeded } from '../../../lib/work/work.ts';
import { type Draft, LackingFacts } from './draft.ts';
import { lackingValues } from './lacking-values.ts';
import { scopeOf } from './scope.ts';

/**
 * Renders `output_template` on the final Blackboard and gives each text its type (WF-API-03). A template that cannot
 * be rendered leaves no output and a warning: the work itself is done and stays completed.
 */
export function finalOutput(draft: Draft): void {
  const { output_template: outputTemplate, output_schema: outputSchema } = draft.spec;
  if (outputTemplate === undefined) return;
  try {
    const result = draft.work.during('rendering output_template', () =>
      renderOutput({ outputTemplate, outputSchema }, scopeOf(draft), draft.facts.loaded, draft.work),
    );
    if (result.kind === 'needs') throw lackingValues(draft, result.refs);
    draft.warn(...result.warnings);
    draft.weigh(result.output);
    keep(draft, result.output as Record<string, Json>);
  } catch (error) {
    if (error instanceof LackingFacts || !(error instanceof AppError)) throw error;
    // Once more in a turn of its own.
    if (error instanceof WorkBudgetExceeded && draft.hasProgress && draft.facts.refused === undefined) throw error;
    draft.warn(`output_template: ${error.message}`);
  }
}

function keep(draft: Draft, output: Record<string, Json>): void {
  const isSmall = Buffer.byteLength(JSON.stringify(output)) <= limits.inlineFinalOutputBytes;
  if (isSmall) draft.change({ kind: 'status', fields: { final_output: output } });
  else draft.setFinalOutput(output);
}
