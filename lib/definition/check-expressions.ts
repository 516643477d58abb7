import { errorAt, type Problem } from '../../crds/problem.ts';
import { checkExpression } from '../expression/parse.ts';
import type { Work } from '../work/work.ts';
import { checkReferences } from './check-references.ts';
import type { Definition } from './definition.ts';

/** Every expression of a `custom` condition is in the grammar (AMB-067, AMB-172) and what it reads exists. */
export function checkExpressions(definition: Definition, work: Work): readonly Problem[] {
  return definition.states.flatMap(({ at: stateAt, state }) =>
    state.transitions.flatMap(({ expression }, index) => {
      if (expression === undefined) return [];
      const at = [...stateAt, 'transitions', index, 'expression'];
      const result = checkExpression(expression, work);
      if (result.ok) return checkReferences(result.references, at, definition);
      return [errorAt(at, 'expression', `${result.message} (column ${result.column} of the expression)`)];
    }),
  );
}
