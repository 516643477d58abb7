import { errorAt, type Problem } from '../../crds/problem.ts';
import type { Work } from '../work/work.ts';
import { checkReferences } from './check-references.ts';
import type { Definition } from './definition.ts';

/** Every template can be parsed and what it reads exists (spec 1 §2.6, "Template variables"). */
export function checkTemplates(definition: Definition, work: Work): readonly Problem[] {
  return definition.templates.checked(definition, work).flatMap(({ at, result }) => {
    if (result.ok) return checkReferences(result.references, at, definition);
    return [
      errorAt(at, 'template', `${result.message} (line ${result.line}, column ${result.column} of the template)`),
    ];
  });
}
