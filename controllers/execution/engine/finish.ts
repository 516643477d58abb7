import { limits } from '../../../crds/limits.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { Phase } from '../../../crds/schema/workflow-execution-status.ts';
import { AppError } from '../../../lib/errors.ts';
import { coerceAll } from '../../../lib/coerce.ts';
import type { LoadedValues, NeedsValues } from '../../../lib/template/large-value.ts';
import { render } from '../../../lib/template/render.ts';
import type { TemplateScope } from '../../../lib/template/scope.ts';
import { Work, WorkBudgetExceeded } from '../../../lib/work/work.ts';
import { type Draft, LackingFacts } from './draft.ts';
import { noteEndStimulus } from './end-stimulus.ts';
import type { Failure } from './facts.ts';
import { lackingValues } from './lacking.ts';
import { templateScope } from './scope.ts';

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
  if (!isGood) draft.recordEvent('Warning', reason, message);
  else if (draft.facts.execution.status !== undefined) draft.recordEvent('Normal', reason, message);
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
      renderOutput({ outputTemplate, outputSchema }, templateScope(draft), draft.facts.loaded, draft.work),
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

/** `final_output`, with what could not be converted and the paths that were missing. */
interface FinalOutput {
  readonly kind: 'output';
  readonly output: Record<string, unknown>;
  /** One sentence for each text that kept its type. */
  readonly warnings: readonly string[];
  readonly missing: readonly string[];
}

/** A workflow's declaration of its output. */
interface OutputDeclaration {
  readonly outputTemplate: Readonly<Record<string, string>>;
  /** JSON Schema of the output; its property types decide the conversion. */
  readonly outputSchema?: unknown;
}

/**
 * Renders `output_template` on the final Blackboard and gives each text its type (WF-API-03, AMB-073). An empty
 * template gives {} (AMB-165). Stored values that it needs and `loaded` lacks are named all at once.
 * @throws TemplateError, TemplateBudgetExceeded, WorkBudgetExceeded or NestedTooDeep as `render` does.
 */
export function renderOutput(
  { outputTemplate, outputSchema }: OutputDeclaration,
  scope: TemplateScope,
  loaded?: LoadedValues,
  work = new Work(),
): FinalOutput | NeedsValues {
  const texts: [string, string][] = [];
  const missing = new Set<string>();
  const refs = new Set<string>();
  for (const [name, template] of Object.entries(outputTemplate)) {
    const result = render(template, scope, loaded, work);
    if (result.kind === 'needs') {
      for (const ref of result.refs) refs.add(ref);
      continue;
    }
    texts.push([name, result.text]);
    for (const path of result.missing) missing.add(path);
  }
  if (refs.size > 0) return { kind: 'needs', refs: [...refs] };
  return { kind: 'output', ...coerceAll(Object.fromEntries(texts), outputSchema, work), missing: [...missing] };
}
