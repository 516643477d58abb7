import { errorAt, type Problem } from '../../crds/problem.ts';
import type { CliToolSpec } from '../../crds/schema/cli-tool.ts';
import { checkDefinition } from '../definition/check.ts';
import { largeSchemaProblems } from '../json-schema/large-schema.ts';
import { toolState, workflowOf } from './workflow-of.ts';

/**
 * Checks of a CLI tool beyond its schema: its templates and the JSON Schema of its arguments. Paths begin with `spec`.
 */
export function checkCliTool(spec: CliToolSpec): readonly Problem[] {
  const large = largeSchemaProblems(spec.input_schema, ['spec', 'input_schema']);
  if (large.length > 0) return large;
  const tool = { apiVersion: 'windlass.dev/v1', kind: 'CliTool', metadata: { name: 'tool' }, spec } as const;
  const problems = checkDefinition(workflowOf(tool, 'tenant').spec);
  const state = ['spec', 'states', toolState];
  return problems
    .filter(({ severity }) => severity === 'error')
    .map(({ at, rule, message }) => {
      const isOfState = state.every((key, index) => at[index] === key);
      return errorAt(isOfState ? ['spec', ...at.slice(state.length)] : at, rule, message);
    });
}
