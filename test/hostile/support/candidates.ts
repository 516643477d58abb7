import fc from 'fast-check';
import { limits } from '../../../crds/limits.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { State } from '../../../crds/schema/state.ts';
import type { Transition } from '../../../crds/schema/transition.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { anEnd, anUpdate, aScript, aWorkflow, busybox } from '../../builders/workflow-builder.ts';
import { hostileShapes } from './json-shapes.ts';

/** Choices of an attacker; each number is a size within a limit. */
export interface Genes {
  /** Kind of the state whose result the others read. */
  readonly kind: 'container' | 'parallel' | 'human' | 'child';
  readonly steps: number;
  readonly signals: number;
  readonly response: number;
  readonly input: string;
  readonly output: string;
  readonly context: string;
  readonly schema: string;
  readonly coerced: string;
  readonly template: string;
  readonly repeats: number;
  readonly keys: number;
  readonly states: number;
  readonly rule: string;
  readonly rules: number;
  readonly seeds: number;
  readonly final: string;
  /** How the last state is left: by its own end, or by the failure of a step. */
  readonly end: string;
  readonly text: 'none' | 'yaml' | 'json';
}

const shape = fc.constantFrom(...Object.keys(hostileShapes));
const piece = fc.constantFrom(
  'x',
  '{{!}}',
  '{{a.output.stdout}}',
  '{{a.output.stdout.x.0}}',
  '{{a.output.s0.stdout}}',
  '{{json a.output}}',
  '{{json a.result}}',
  '{{a.result.a.0}}',
  '{{json kept}}',
  '{{#each kept.a}}{{this}}{{/each}}',
  '{{human.feedback}}',
  '{{json workflow.context}}',
  '{{#each workflow.context.a}}{{@index}}{{/each}}',
  '{{input.a}}',
  '{{json input.a}}',
  '{{upper a.output.stdout}}',
  '{{length a.output.stdout}}',
  '{{#each input.a}}x{{/each}}',
  '{{#each input.a}}{{#if this}}{{@key}}{{/if}}{{/each}}',
  '{{#if a.output.stdout.k1}}y{{/if}}',
  '{{default nope.x "y"}}',
  '\n\n\n\n\n\n\n\n',
  '{{json blackboard}}',
);
const rule = fc.constantFrom(
  'input.a == "x"',
  'a.output.stdout.x == 1',
  'a.output.s0.stdout.x == 1',
  'a.result == input.a',
  'kept == a.result',
  'human.feedback == "{{json input.a}}"',
  'workflow.context.a == input.a',
  '"{{json input.a}}" == "x"',
  '{{length a.output.stdout}} < 0',
  'input.a',
  '{{upper a.output.stdout}} == "{{lower a.output.stdout}}"',
  'blackboard == input.a',
);

const many = (count: number, make: (index: number) => Json): Json[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** JSON Schemas of `input.a`, each the worst of a kind, by name. */
const schemas: Readonly<Record<string, Json>> = {
  none: true,
  unique: { type: 'array', uniqueItems: true },
  'each of any of many': { items: { anyOf: many(100, (at) => ({ const: at })) } },
  'each of one of many': { items: { oneOf: many(20, (at) => ({ type: 'object', required: [`r${at}`] })) } },
  'a pattern on each': { items: { pattern: '(a|b|ab)*c$' }, pattern: '(x|xx)*y$' },
  'patterns for keys': {
    patternProperties: Object.fromEntries(many(20, (at) => `^(k|${at})*z$`).map((key) => [key, { type: 'string' }])),
    propertyNames: { maxLength: 3 },
  },
  recursive: { $defs: { n: { anyOf: [{ items: { $ref: '#/$defs/n' } }, { type: 'number' }] } }, $ref: '#/$defs/n' },
  'a long enum on each': { items: { enum: many(1_000, (at) => `value ${at}`) } },
  contains: { contains: { const: { a: 1 } }, minContains: 1, maxContains: 2 },
  unevaluated: { allOf: many(20, () => ({ properties: { a: true } })), unevaluatedProperties: false },
};

/** Types of the fields of the final output. */
const coercions: Readonly<Record<string, Json>> = {
  none: {},
  object: { type: 'object' },
  'list or number': { type: ['array', 'number', 'boolean', 'null'] },
  enum: { enum: many(1_000, (at) => `value ${at}`) },
};

const genes: { readonly [K in keyof Genes]: fc.Arbitrary<Genes[K]> } = {
  kind: fc.constantFrom('container', 'container', 'parallel', 'human', 'child'),
  steps: fc.constantFrom(1, 3, 8, limits.steps),
  signals: fc.constantFrom(1, 20, limits.signals),
  response: fc.constantFrom(10, 1_000, 65_536),
  input: shape,
  output: shape,
  context: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: shape }),
  schema: fc.oneof(
    { weight: 2, arbitrary: fc.constant('none') },
    { weight: 1, arbitrary: fc.constantFrom(...Object.keys(schemas)) },
  ),
  coerced: fc.constantFrom(...Object.keys(coercions)),
  template: piece,
  repeats: fc.constantFrom(1, 2, 10, 100, 1_000),
  keys: fc.constantFrom(1, 5, 50, 200),
  states: fc.constantFrom(1, 3, 10, 40),
  rule,
  rules: fc.constantFrom(0, 1, 5, 18),
  seeds: fc.constantFrom(0, 1, 40),
  final: piece,
  end: fc.constantFrom('finalize', 'update', 'failed step'),
  text: fc.constantFrom('none', 'none', 'none', 'yaml', 'json'),
};

const sampleOf = (seed: number): Genes => fc.sample(fc.record(genes), { numRuns: 1, seed })[0] as Genes;

/** Any candidate; the same for the same seed. */
export const freshGenes = sampleOf;

/** A candidate with one of its genes changed. */
export function mutatedGenes(parent: Genes, at: number, seed: number): Genes {
  const names = Object.keys(genes) as (keyof Genes)[];
  const name = names[at % names.length] ?? 'template';
  return { ...parent, [name]: sampleOf(seed)[name] };
}

/** etcd takes 1.5 MiB for an object, so no workflow that a cluster holds has longer templates in all. */
const templatesLength = 1_400_000;
/** With a context of 1 MiB there is less room. */
const templatesBesideContext = 350_000;

/** The value of a shape, made as long as fits beside the rest. */
const valueOf = (name: string): Json => JSON.parse(hostileShapes[name] ?? 'null') as Json;

/**
 * A legal workflow of these sizes: a state whose result is read, updates one after another, an output at the end. The
 * second is the child that it starts.
 */
export function workflowsOf(chosen: Genes): readonly [Workflow, Workflow] {
  const { template, repeats, keys, states, context, final, coerced, schema } = chosen;
  const room = context === '' ? templatesLength : templatesBesideContext;
  const longest = Math.min(60_000, Math.floor(room / (keys * states)));
  const source = template.repeat(Math.max(1, Math.min(repeats, Math.floor(longest / template.length))));
  const env = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, `${source}${index % 7}`]));
  const input_schema = { type: 'object', properties: { a: schemas[schema] ?? true } } as const;
  const builder = aWorkflow('w')
    .with({
      max_total_transitions: 100,
      input_schema,
      output_template: { a: final, b: final },
      output_schema: { type: 'object', properties: { a: coercions[coerced] ?? {} } },
      ...(context === '' ? {} : { context: { a: valueOf(context) } }),
    })
    .state('a', firstState(chosen));
  for (let state = 0; state < states; state += 1) {
    builder.state(`s${state}`, anUpdate(env, state + 1 === states ? 'end' : `s${state + 1}`));
  }
  const child = aWorkflow('child').with({ input_schema }).state('end', anEnd()).build();
  return [builder.state('end', lastState(chosen)).build(), child];
}

function firstState(chosen: Genes): State {
  const { kind, steps, rule: expression, rules, final } = chosen;
  const customs = Array.from({ length: rules }, () => ({ condition: 'custom' as const, expression, target: 'end' }));
  const transitions: Transition[] = [...customs, { target: 's0' }];
  switch (kind) {
    case 'container':
      return aScript('true', { env: { FINAL: final }, transitions });
    case 'parallel': {
      const command = ['sh', '-c', 'true'];
      const all = Array.from({ length: steps }, (_, index) => ({ name: `s${index}`, image: busybox, command }));
      return { kind: 'ParallelContainerRun', steps: all, completion: 'best_effort', transitions };
    }
    case 'human':
      return {
        kind: 'Human',
        prompt: final,
        transitions: [...customs, { condition: 'input_equals_yes' as const, target: 's0' }],
      };
    case 'child':
      return { kind: 'Subworkflow', workflow_id: 'child', input: '{{json input}}', result_key: 'kept', transitions };
  }
}

function lastState({ end, template }: Genes): State {
  if (end === 'update') return anUpdate({ last: template });
  return end === 'finalize' ? anEnd() : aScript('false', { env: { LAST: template } });
}

/** The inputs of a candidate's execution. */
export function specOf({ input, seeds }: Genes): { input: Record<string, Json>; blackboard: Record<string, Json> } {
  const blackboard = Object.fromEntries(
    Array.from({ length: seeds }, (_, index) => [`seed${index}`, 'y'.repeat(20_000)]),
  );
  return { input: { a: valueOf(input) }, blackboard };
}
