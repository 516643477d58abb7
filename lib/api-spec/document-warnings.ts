import { type Problem, warningAt } from '../../crds/problem.ts';
import type { OpenApiIndex } from '../openapi-document/index.ts';
import type { UnsentOperations } from './unsent.ts';

/**
 * Parts of a document that are legal and probably mistakes: steps name operations by their operationId alone, and send
 * no parameters (spec 3 §2.4). The caller finds the operations that lack one: a look at each of a large document takes long.
 */
export function documentWarnings(
  { operations: { size } }: Pick<OpenApiIndex, 'operations'>,
  { count, first }: UnsentOperations,
): readonly Problem[] {
  if (size === 0) return [warningAt(['document'], 'no_operation', noOperation)];
  if (count === 0) return [];
  const of = `${count} of ${size} operation${size === 1 ? '' : 's'}`;
  const ids = `${first.join(', ')}${count > first.length ? ', …' : ''}`;
  return [warningAt(['document'], 'unsent_parameters', `${of} ${count === 1 ? 'needs' : 'need'} ${unsent}: ${ids}`)];
}

const noOperation = 'has no operation with an operationId, so no tool workflow can call it';
const unsent = 'parameters in the path, the query, a header or a cookie, which no tool workflow sends';
