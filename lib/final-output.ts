import { coerceAll } from './coerce.ts';
import type { LoadedValues, NeedsValues } from './template/large-value.ts';
import { render } from './template/render.ts';
import type { TemplateScope } from './template/scope.ts';
import { Work } from './work/work.ts';

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
