import { limits } from '../../crds/limits.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import type { ToolWorkflowSpec } from '../../crds/schema/tool-workflow.ts';
import { meantBy } from '../../crds/similar-name.ts';
import { isJsonObject } from '../json-object.ts';
import type { BodyExpression, BodyNode } from './body-syntax.ts';
import { JsonPlace } from './json-place.ts';
import { parseBody } from './parse-body.ts';
import { unescapedInputs } from './unescaped-inputs.ts';

type Step = ToolWorkflowSpec['steps'][number];

/**
 * Parts of templates that are legal and probably mistakes, in a spec that `checkToolWorkflow` lets pass, at most
 * `limits.warnings`. A path that never has a value prints as nothing (requirements AMB-129), and a text that is not
 * JSON fails each call (spec 3 §7.1).
 */
export function bodyWarnings(spec: Pick<ToolWorkflowSpec, 'steps' | 'input_schema'>): readonly Problem[] {
  const { steps } = spec;
  const inputs = listedInputs(spec.input_schema);
  const warnings: Problem[] = [];
  for (const [index, { body_template: source }] of steps.entries()) {
    const at = ['steps', index, 'body_template'];
    const { nodes } = parseBody(source);
    const known = { earlier: steps.slice(0, index), inputs };
    for (const path of rootPaths(nodes)) {
      const problem = pathProblem(path, known);
      if (problem !== undefined) warnings.push(warningAt(at, 'unknown_value', problem));
      if (warnings.length >= limits.warnings) return warnings;
    }
    warnings.push(...unescapedIn(nodes, { spec, inputs }).map((text) => warningAt(at, 'unescaped_text', text)));
    if (isNeverJson(nodes)) warnings.push(warningAt(at, 'not_json', neverJson));
  }
  return warnings.slice(0, limits.warnings);
}

/** Inputs that are not listed have a warning already. */
function unescapedIn(
  nodes: readonly BodyNode[],
  { spec, inputs }: { readonly spec: Pick<ToolWorkflowSpec, 'input_schema'>; readonly inputs: Known['inputs'] },
): string[] {
  const fields = [...unescapedInputs(nodes, spec.input_schema)];
  return fields
    .filter(([field]) => inputProblem(field, inputs) === undefined)
    .map((field) => unescaped(field.join('.')));
}

const unescaped = (field: string): string =>
  `puts input.${field} between quotes as it is, so a quote in it ends the text; give ${field} an enum in input_schema, or a pattern ` +
  'from ^ to $ that admits no quote, backslash and control character';

const neverJson =
  'is no JSON with a plain text or number in place of its expressions; look for a brace, comma or quote';

/** Paths that begin at the context of the step: `each` and `with` have another one inside. */
function* rootPaths(nodes: readonly BodyNode[]): Generator<readonly string[]> {
  for (const node of nodes) {
    if (node.kind === 'text') continue;
    if (node.kind === 'value') yield* pathsOf(node.value);
    else {
      yield* pathsOf(node.subject);
      if (node.kind === 'if' || node.kind === 'unless') yield* rootPaths(node.body);
      yield* rootPaths(node.otherwise);
    }
  }
}

function* pathsOf(expression: BodyExpression): Generator<readonly string[]> {
  if (expression.kind === 'lookup') {
    yield* pathsOf(expression.subject);
    yield* pathsOf(expression.field);
  }
  if (expression.kind === 'path' && expression.from === 'name') yield expression.parts;
}

/** Names that a step may read. */
interface Known {
  readonly earlier: readonly Step[];
  /** Fields of the input; undefined where it may have others. */
  readonly inputs: readonly string[] | undefined;
}

/** Why a path never has a value, if so. */
function pathProblem([root = '', ...rest]: readonly string[], { earlier, inputs }: Known): string | undefined {
  if (root === 'state') return rest[0] === 'input' ? inputProblem(rest[1], inputs) : stateProblem(rest, earlier);
  if (root === 'input') return inputProblem(rest[0], inputs);
  return `reads {{${root}}}, which never has a value; values are input.FIELD and state.STEP.VARIABLE`;
}

/** A caller may send a field that no schema names, where the schema does not forbid it; a template that reads one is mistyped. */
function inputProblem(field: string | undefined, inputs: Known['inputs']): string | undefined {
  if (field === undefined || inputs === undefined || inputs.includes(field)) return undefined;
  return `reads input.${field}, and input_schema lists no such property${meantBy(field, inputs)}`;
}

/** The fields that a schema lists, where it lists all: undefined where another keyword may add some. */
function listedInputs(schema: ToolWorkflowSpec['input_schema']): readonly string[] | undefined {
  const { properties, additionalProperties: more, required } = schema;
  if (Object.keys(schema).some((keyword) => addsFields.has(keyword))) return undefined;
  if (more === undefined ? !isJsonObject(properties) : more !== false) return undefined;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return [...(isJsonObject(properties) ? Object.keys(properties) : []), ...names];
}

const addsFields: ReadonlySet<string> = new Set(
  '$ref $dynamicRef allOf anyOf oneOf if then else patternProperties dependentSchemas dependencies'.split(' '),
);

function stateProblem([name, variable]: readonly string[], earlier: readonly Step[]): string | undefined {
  if (name === undefined) return undefined;
  const step = earlier.find((candidate) => candidate.name === name);
  if (step === undefined) {
    const names = earlier.map((candidate) => candidate.name);
    return `reads state.${name}, and no step before this one has that name${meantBy(name, names)}`;
  }
  const variables = Object.keys(step.extractors ?? {});
  if (variable === undefined || variables.includes(variable)) return undefined;
  return `reads state.${name}.${variable}, and step '${name}' extracts no such variable${meantBy(variable, variables)}`;
}

/**
 * Whether a text is JSON with no text in place of its expressions. A template with a block or with an expression outside quotes is
 * not judged behind its first brace: either may hold any part of the text, such as members of an object.
 */
function isNeverJson(nodes: readonly BodyNode[]): boolean {
  const [first] = nodes;
  if (first?.kind === 'text' && bareKey.test(first.text)) return true;
  let filled = '';
  const place = new JsonPlace();
  for (const node of nodes) {
    if (node.kind === 'text') {
      filled += node.text;
      place.follow(node.text);
    } else if (node.kind === 'value' && place.takesText) filled += '0';
    else return false;
  }
  return !isJson(filled);
}

/** An object whose first key has no quotes. */
const bareKey = /^\s*\{\s*[^\s"}]/;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
