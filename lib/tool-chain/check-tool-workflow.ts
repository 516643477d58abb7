import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { prototypeKeys } from '../../crds/reserved-names.ts';
import { reservedToolSteps, toolStepPattern } from '../../crds/tool-name.ts';
import { isJsonObject } from '../json-object.ts';
import { largeSchemaProblems } from '../json-schema/large-schema.ts';
import { checkSchema } from '../json-schema/validate.ts';
import { TemplateError } from '../template/template-error.ts';
import { workLimits } from '../work/limits.ts';
import { Work, WorkBudgetExceeded } from '../work/work.ts';
import { toolWorkflowLimits } from './limits.ts';
import { bodyTemplateProblem, bodyTemplateCost } from './parse-body.ts';
import { ExtractorError, parseExtractor } from './parse-extractor.ts';

interface CheckOptions {
  /** The spec of a ToolWorkflow object, not the body of a registration. @default false */
  readonly isObject?: boolean;
  /** Steps that the configuration allows. */
  readonly stepsMax?: number;
}

/**
 * Everything that is wrong with the definition of a tool workflow, all at once (spec 3 §2.4 and §7.1). Paths begin at the
 * spec, as `steps[0].body_template`. Whether `api_spec_id` and `operation_id` exist is for the caller to look up.
 */
export function checkToolWorkflow(spec: unknown, options: CheckOptions = {}): readonly Problem[] {
  const { stepsMax = toolWorkflowLimits.steps } = options;
  if (!isJsonObject(spec)) return [errorAt([], 'type', 'must be an object')];
  const work = new Work(workLimits.registration);
  try {
    return work.during('checking the definition', () => [
      ...checkTexts(spec, options),
      ...checkInputSchema(spec['input_schema'], work),
      ...checkSteps(spec['steps'], stepsMax, work),
    ]);
  } catch (error) {
    if (error instanceof WorkBudgetExceeded) return [errorAt([], 'too_large', error.message)];
    throw error;
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An object of the cluster may leave its name out, and may name its ApiSpec in place of the id. */
function checkTexts(spec: Readonly<Record<string, unknown>>, { isObject }: CheckOptions): Problem[] {
  const { name, description, api_spec_id: id, api_spec: specName } = spec;
  const isNamed = typeof name === 'string' ? name.trim() !== '' : isObject && name === undefined;
  const hasSpec = typeof id === 'string' ? uuid.test(id) : isObject && id === undefined && typeof specName === 'string';
  return [
    ...(isNamed ? [] : [errorAt(['name'], 'required', 'must be a text that is not empty')]),
    ...(typeof description === 'string' ? [] : [errorAt(['description'], 'required', 'must be a text')]),
    ...(hasSpec ? [] : [errorAt(['api_spec_id'], 'required', 'must be the UUID of an API spec')]),
  ];
}

function checkInputSchema(schema: unknown, work: Work): Problem[] {
  const at = ['input_schema'];
  if (!isJsonObject(schema)) return [errorAt(at, 'type', 'must be a JSON Schema with type: object')];
  if (schema['type'] !== 'object') return [errorAt([...at, 'type'], 'object_schema', "must be 'object'")];
  const large = largeSchemaProblems(schema, at);
  if (large.length > 0) return [...large];
  return checkSchema(schema, work).map(({ path, message }) => ({
    ...errorAt(at, 'json_schema', message),
    path: path === '' ? 'input_schema' : `input_schema${path.startsWith('[') ? '' : '.'}${path}`,
  }));
}

function checkSteps(steps: unknown, most: number, work: Work): Problem[] {
  if (!Array.isArray(steps) || steps.length === 0)
    return [errorAt(['steps'], 'required', 'must be a list of at least one step')];
  if (steps.length > most) return [errorAt(['steps'], 'too_many', `must not hold more than ${most} steps`)];
  const names = steps.map((step: unknown) => (isJsonObject(step) ? step['name'] : undefined));
  return steps.flatMap((step: unknown, index) => {
    const at = ['steps', index];
    if (!isJsonObject(step)) return [errorAt(at, 'type', 'must be an object')];
    const isRepeated = typeof step['name'] === 'string' && names.indexOf(step['name']) < index;
    return [
      ...checkName(step['name'], [...at, 'name']),
      ...(isRepeated
        ? [errorAt([...at, 'name'], 'duplicate', `'${String(step['name'])}' is the name of an earlier step`)]
        : []),
      ...checkStep(step, at, work),
    ];
  });
}

function checkStep(step: Readonly<Record<string, unknown>>, at: Place, work: Work): Problem[] {
  const operation = step['operation_id'];
  const hasOperation = typeof operation === 'string' && operation !== '';
  return [
    ...(hasOperation ? [] : [errorAt([...at, 'operation_id'], 'required', 'must be the operationId of an operation')]),
    ...checkBody(step['body_template'], [...at, 'body_template'], work),
    ...checkExtractors(step['extractors'], [...at, 'extractors']),
    ...checkOnError(step['on_error'], [...at, 'on_error']),
  ];
}

/** Keys of `state` are `STEP.VARIABLE`, so neither holds a point; `state.input` is the input. */
function checkName(name: unknown, at: Place): Problem[] {
  if (typeof name !== 'string' || name === '') return [errorAt(at, 'required', 'must be a text that is not empty')];
  if (!plainName.test(name)) return [errorAt(at, 'name', nameForm)];
  if (!reserved.has(name)) return [];
  return [errorAt(at, 'reserved', `must not be '${name}', which has a meaning already`)];
}

const plainName = new RegExp(toolStepPattern);
const nameForm = 'must begin with a letter or _, and hold letters, digits, _ and - only, 63 at most';
const reserved: ReadonlySet<string> = new Set([...reservedToolSteps, ...prototypeKeys]);

function checkBody(source: unknown, at: Place, work: Work): Problem[] {
  // A tree in place of a text would reach the compiler of other engines (requirements AMB-143).
  if (typeof source !== 'string')
    return [errorAt(at, 'type', 'must be a Handlebars text that renders JSON; write {} for an empty body')];
  try {
    work.spend(bodyTemplateCost(source));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
  }
  const problem = bodyTemplateProblem(source);
  return problem === undefined ? [] : [errorAt(at, 'template', problem)];
}

function checkExtractors(extractors: unknown, at: Place): Problem[] {
  if (extractors === undefined || extractors === null) return [];
  if (!isJsonObject(extractors)) return [errorAt(at, 'type', 'must be a map from a variable to a JSONPath')];
  const entries = Object.entries(extractors);
  if (entries.length > toolWorkflowLimits.extractors) {
    return [errorAt(at, 'too_many', `must not hold more than ${toolWorkflowLimits.extractors} extractors`)];
  }
  return entries.flatMap(([variable, expression]) => [
    ...checkVariable(variable, [...at, variable]),
    ...checkExpression(expression, [...at, variable]),
  ]);
}

function checkVariable(variable: string, at: Place): Problem[] {
  const isPlain = plainName.test(variable) && !prototypeKeys.some((key) => key === variable);
  return isPlain ? [] : [errorAt(at, 'name', `the variable ${nameForm}`)];
}

function checkExpression(expression: unknown, at: Place): Problem[] {
  try {
    parseExtractor(expression as string);
    return [];
  } catch (error) {
    if (error instanceof ExtractorError) return [errorAt(at, 'jsonpath', error.message)];
    throw error;
  }
}

function checkOnError(policy: unknown, at: Place): Problem[] {
  if (policy === 'AbortWorkflow' || policy === 'Continue') return [];
  const most = toolWorkflowLimits.retries;
  const forms = `must be AbortWorkflow, Continue or {"RetryN": n} with n from 0 to ${most}`;
  if (!isJsonObject(policy) || Object.keys(policy).length !== 1) return [errorAt(at, 'on_error', forms)];
  const retries = policy['RetryN'];
  const isCount = Number.isSafeInteger(retries) && Number(retries) >= 0 && Number(retries) <= most;
  return isCount ? [] : [errorAt(at, 'on_error', forms)];
}
