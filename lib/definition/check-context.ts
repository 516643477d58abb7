import { errorAt, type Problem } from '../../crds/problem.ts';
import { isTooDeep, tooDeep } from '../nesting.ts';
import type { Definition } from './definition.ts';

/** Constants are what the API takes as JSON, however they came in. */
export function checkContext({ spec: { context = {} } }: Definition): readonly Problem[] {
  return Object.entries(context)
    .filter(([, value]) => isTooDeep(value))
    .map(([key]) => errorAt(['spec', 'context', key], 'depth', tooDeep));
}
