import { limits } from '../../crds/limits.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import type { ToolWorkflowSpec } from '../../crds/schema/tool-workflow.ts';
import { isSimilar } from '../../crds/similar-name.ts';
import type { BodyExpression, BodyNode } from './body-syntax.ts';
import { parseBody } from './parse-body.ts';

type Step = ToolWorkflowSpec['steps'][number];

/**
 * Parts of templates that are legal and probably mistakes, in a spec that `checkToolWorkflow` lets pass, at most
 * `limits.warnings`: a path that never has a value prints as nothing (requirements AMB-129), and a text that is not JSON fails
 * each call (spec 3 §7.1).
 */
export function bodyWarnings({ steps }: Pick<ToolWorkflowSpec, 'steps'>): readonly Problem[] {
  const warnings: Problem[] = [];
  for (const [index, { body_template: source }] of steps.entries()) {
    const at = ['steps', index, 'body_template'];
    const { nodes } = parseBody(source);
    const earlier = steps.slice(0, index);
    for (const path of rootPaths(nodes)) {
      const problem = pathProblem(path, earlier);
      if (problem !== undefined) warnings.push(warningAt(at, 'unknown_value', problem));
      if (warnings.length >= limits.warnings) return warnings;
    }
    if (isNeverJson(nodes)) warnings.push(warningAt(at, 'not_json', neverJson));
  }
  return warnings.slice(0, limits.warnings);
}

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

/** Why a path never has a value, if so. */
function pathProblem([root = '', name, variable]: readonly string[], earlier: readonly Step[]): string | undefined {
  if (root !== 'input' && root !== 'state') {
    return `reads {{${root}}}, which never has a value; values are input.FIELD and state.STEP.VARIABLE`;
  }
  if (root === 'input' || name === undefined || name === 'input') return undefined;
  const step = earlier.find((candidate) => candidate.name === name);
  const names = earlier.map((candidate) => candidate.name);
  if (step === undefined) return `reads state.${name}, and no step before this one has that name${meant(names, name)}`;
  const variables = Object.keys(step.extractors ?? {});
  if (variable === undefined || variables.includes(variable)) return undefined;
  return `reads state.${name}.${variable}, and step '${name}' extracts no such variable${meant(variables, variable)}`;
}

function meant(names: readonly string[], written: string): string {
  const similar = names.find((name) => isSimilar(name, written));
  return similar === undefined ? '' : `; did you mean ${similar}?`;
}

/** Blocks may hold any part of the text, so a template with one is not judged. */
function isNeverJson(nodes: readonly BodyNode[]): boolean {
  if (nodes.some(({ kind }) => kind !== 'text' && kind !== 'value')) return false;
  const filled = nodes.map((node) => (node.kind === 'text' ? node.text : '0')).join('');
  return !isJson(filled) && !isJson(nodes.map((node) => (node.kind === 'text' ? node.text : '"0":0')).join(''));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
