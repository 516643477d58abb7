import { errorAt, type Place, type Problem, warningAt } from '../../crds/problem.ts';
import { checkExpression } from '../expression/parse.ts';
import type { Work } from '../work/work.ts';
import type { Definition } from './definition.ts';
import { volumeNames } from './volume-names.ts';

type Reference = readonly string[];
type CheckRoot = (rest: Reference, at: Place, definition: Definition) => readonly Problem[];

/**
 * Checks that templates and expressions read existing keys. A missing volume is an error; any other a warning, since a
 * missing key renders as a placeholder and may be what the author wants.
 */
function checkReferences(references: readonly Reference[], at: Place, definition: Definition): readonly Problem[] {
  const seen = new Set<string>();
  return references.flatMap((reference) => {
    const key = reference.join('.');
    if (seen.has(key)) return [];
    seen.add(key);
    const [root = '', ...rest] = reference;
    const check = Object.hasOwn(roots, root) ? roots[root] : undefined;
    return check ? check(rest, at, definition) : checkState(root, at, definition);
  });
}

const anything: CheckRoot = () => [];

const roots: Readonly<Record<string, CheckRoot>> = {
  intent: anything,
  blackboard: anything,
  input: ([key], at, definition) => checkInput(key, at, definition),
  workflow: checkWorkflow,
  state: only('state', ['feedback']),
  human: only('human', ['feedback']),
  execution: only('execution', ['id']),
};

function only(root: string, known: readonly string[]): CheckRoot {
  return ([key], at) =>
    key === undefined || known.includes(key)
      ? []
      : [
          warningAt(
            at,
            'unknown_reference',
            `{{${root}.${key}}} is always missing; there is only ${root}.${known.join(', ')}`,
          ),
        ];
}

function checkState(root: string, at: Place, { stateNames, hints }: Definition): readonly Problem[] {
  if (stateNames.has(root)) return [];
  const meant = hints.meant(() => [...stateNames, ...Object.keys(roots)], root);
  const advice = meant === undefined ? `Blackboard keys are read as {{blackboard.${root}}}` : `did you mean ${meant}?`;
  return [warningAt(at, 'unknown_reference', `'${root}' is neither a state nor a variable; ${advice}`)];
}

/** The probable meaning of a mistyped key, as the end of a sentence. */
function didYouMean({ hints }: Definition, known: object, written: string): string {
  const meant = hints.meant(() => Object.keys(known), written);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

function checkInput(key: string | undefined, at: Place, definition: Definition): readonly Problem[] {
  const { properties, additionalProperties } = (definition.spec.input_schema ?? {}) as Readonly<
    Record<string, unknown>
  >;
  if (key === undefined || additionalProperties !== false || typeof properties !== 'object' || properties === null) {
    return [];
  }
  if (Object.hasOwn(properties, key)) return [];
  return [
    warningAt(at, 'unknown_reference', `input_schema has no property ${key}${didYouMean(definition, properties, key)}`),
  ];
}

function checkWorkflow([part, ...rest]: Reference, at: Place, definition: Definition): readonly Problem[] {
  if (part === undefined) return [];
  if (part === 'context') return checkContext(rest, at, definition);
  if (part === 'storage') return checkVolume(rest, at, definition);
  const known = 'there are only workflow.context and workflow.storage';
  return [warningAt(at, 'unknown_reference', `{{workflow.${part}}} is always missing; ${known}`)];
}

function checkContext([key]: Reference, at: Place, definition: Definition): readonly Problem[] {
  const { spec, broken } = definition;
  if (key === undefined || broken.has('context') || Object.hasOwn(spec.context ?? {}, key)) return [];
  return [
    warningAt(
      at,
      'unknown_reference',
      `spec.context has no key ${key}${didYouMean(definition, spec.context ?? {}, key)}`,
    ),
  ];
}

/** `workspace`, or `shared_volumes` and a name. */
function checkVolume(rest: Reference, at: Place, { spec, broken }: Definition): readonly Problem[] {
  const [first, second] = rest;
  if (first === undefined || broken.has('storage') || (first === 'shared_volumes' && second === undefined)) return [];
  const known = volumeNames(spec.storage);
  const exists = first === 'workspace' ? known.has(first) : first === 'shared_volumes' && known.has(second ?? '');
  if (exists) return [];
  return [errorAt(at, 'unknown_volume', `{{workflow.storage.${rest.join('.')}}} is not a volume of this workflow`)];
}

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

/** Every template can be parsed and what it reads exists (spec 1 §2.6, "Template variables"). */
export function checkTemplates(definition: Definition, work: Work): readonly Problem[] {
  return definition.templates.checked(definition, work).flatMap(({ at, result }) => {
    if (result.ok) return checkReferences(result.references, at, definition);
    return [
      errorAt(at, 'template', `${result.message} (line ${result.line}, column ${result.column} of the template)`),
    ];
  });
}
