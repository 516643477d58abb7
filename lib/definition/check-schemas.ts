import { errorAt, formatPlace, type Problem, warningAt } from '../../crds/problem.ts';
import { checkSchema } from '../json-schema/validate.ts';
import type { Work } from '../work/work.ts';
import type { Definition } from './definition.ts';

/** input_schema and output_schema are JSON Schemas that can be used safely (WF-MAN-09, WF-MAN-10, AMB-087). */
export function checkSchemas({ spec }: Definition, work: Work): readonly Problem[] {
  return [
    ...problemsOf('input_schema', spec.input_schema, work),
    ...problemsOf('output_schema', spec.output_schema, work),
    ...(spec.output_schema !== undefined && spec.output_template === undefined
      ? [warningAt(['spec', 'output_schema'], 'no_effect', 'describes final_output, and no output_template makes one')]
      : []),
  ];
}

/** The place of the field serves for line and column; the path continues into the schema. */
function problemsOf(field: 'input_schema' | 'output_schema', schema: unknown, work: Work): Problem[] {
  if (schema === undefined) return [];
  const at = ['spec', field];
  return checkSchema(schema, work).map(({ path, message }) => ({
    ...errorAt(at, 'json_schema', message),
    path: path === '' ? formatPlace(at) : `${formatPlace(at)}${path.startsWith('[') ? '' : '.'}${path}`,
  }));
}
