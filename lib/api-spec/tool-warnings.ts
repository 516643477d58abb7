import { limits } from '../../crds/limits.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import type { ApiSpecSpec } from '../../crds/schema/api-spec.ts';
import type { ToolWorkflowSpec } from '../../crds/schema/tool-workflow.ts';
import type { OpenApiIndex } from '../openapi-document/index.ts';
import { bodyWarnings } from '../tool-chain/body-warnings.ts';
import { unsentPart } from './unsent.ts';

/** Parts of a tool workflow that are legal and probably mistakes, with its API: at most `limits.warnings`. */
export function toolWarnings(
  { steps, input_schema }: Pick<ToolWorkflowSpec, 'steps' | 'input_schema'>,
  { operations }: Pick<OpenApiIndex, 'operations'>,
  spec: Pick<ApiSpecSpec, 'credentials'>,
): readonly Problem[] {
  const unsent = steps.flatMap(({ operation_id: id }, index) => {
    const operation = operations.get(id);
    const part = operation && unsentPart(operation, spec);
    if (part === undefined) return [];
    return [warningAt(['steps', index, 'operation_id'], 'unsent_parameters', `'${id}': ${part}`)];
  });
  return [...unsent, ...bodyWarnings({ steps, input_schema })].slice(0, limits.warnings);
}
