import process from 'node:process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { checkDefinition } from '../../lib/definition/check.ts';
import { anEnd, anUpdate, aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { anOutcome } from '../builders/world.ts';
import { Arena } from './support/arena.ts';
import { hostileShapes } from './support/json-shapes.ts';
import { cpuMsOf, slowness } from './support/turns.ts';

/** What no turn of the event loop may exceed, in milliseconds of thread CPU (design §11). */
const turnMs = 100;
/** How long to search; `WORST_CASE_SECONDS=600` is the long search, and `WORST_CASE_SHOW=1` prints the dearest. */
const seconds = Number(process.env['WORST_CASE_SECONDS'] ?? 50);
const seed = Number(process.env['WORST_CASE_SEED'] ?? Date.now() % 2 ** 31);

/** What an attacker may choose; each number is a size within a limit. */
interface Genes {
  readonly input: string;
  readonly output: string;
  readonly template: string;
  readonly repeats: number;
  readonly keys: number;
  readonly states: number;
  readonly rule: string;
  readonly rules: number;
  readonly seeds: number;
  readonly final: string;
}

const shape = fc.constantFrom(...Object.keys(hostileShapes));
const piece = fc.constantFrom(
  'x',
  '{{!}}',
  '{{a.output.stdout}}',
  '{{a.output.stdout.x.0}}',
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
  '"{{json input.a}}" == "x"',
  '{{length a.output.stdout}} < 0',
  'input.a',
  '{{upper a.output.stdout}} == "{{lower a.output.stdout}}"',
  'blackboard == input.a',
);
const genes: { readonly [K in keyof Genes]: fc.Arbitrary<Genes[K]> } = {
  input: shape,
  output: shape,
  template: piece,
  repeats: fc.constantFrom(1, 2, 10, 100, 1_000),
  keys: fc.constantFrom(1, 5, 50, 200),
  states: fc.constantFrom(1, 3, 10, 40),
  rule,
  rules: fc.constantFrom(0, 1, 5, 18),
  seeds: fc.constantFrom(0, 1, 40),
  final: piece,
};

/** etcd takes 1.5 MiB for an object, so no workflow that a cluster holds has longer templates in all. */
const templatesLength = 1_400_000;

/** A legal workflow of these sizes: a step whose output is read, updates one after another, an output at the end. */
function workflowOf({ template, repeats, keys, states, rule: expression, rules, final }: Genes): Workflow {
  const longest = Math.min(60_000, Math.floor(templatesLength / (keys * states)));
  const source = template.repeat(Math.max(1, Math.min(repeats, Math.floor(longest / template.length))));
  const env = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, `${source}${index % 7}`]));
  const customs = Array.from({ length: rules }, () => ({ condition: 'custom' as const, expression, target: 'end' }));
  const builder = aWorkflow('w')
    .with({ max_total_transitions: 100, output_template: { a: final, b: final } })
    .state('a', aScript('true', { transitions: [...customs, { target: 's0' }] }));
  for (let state = 0; state < states; state += 1) {
    builder.state(`s${state}`, anUpdate(env, state + 1 === states ? 'end' : `s${state + 1}`));
  }
  return builder.state('end', anEnd()).build();
}

interface Found {
  readonly genes: Genes;
  readonly ms: number;
  readonly problem?: string;
}

/** Plays one candidate to its end, in so many steps at most. */
async function measure(candidate: Genes): Promise<Found> {
  const workflow = workflowOf(candidate);
  const checking = cpuMsOf(() => checkDefinition(workflow.spec));
  const registration = checking > turnMs ? checking / slowness() : checking;
  if (checkDefinition(workflow.spec).some(({ severity }) => severity === 'error')) {
    return { genes: candidate, ms: registration };
  }
  const value = JSON.parse(hostileShapes[candidate.input] ?? 'null') as never;
  const blackboard = Object.fromEntries(
    Array.from({ length: candidate.seeds }, (_, index) => [`seed${index}`, 'y'.repeat(20_000)]),
  );
  const arena = await new Arena(workflow, { spec: { input: { a: value }, blackboard } }).run();
  if (arena.world.running().length > 0) {
    arena.world.end('a', anOutcome({ stdout: hostileShapes[candidate.output] ?? '' }));
    await arena.run();
  }
  const { phase } = arena.world.status;
  const ms = Math.max(registration, arena.longestMs);
  if (phase === 'completed' || phase === 'failed') return { genes: candidate, ms };
  return { genes: candidate, ms, problem: `ended as ${phase}` };
}

const sampleOf = (arbitrary: fc.Arbitrary<Genes>, at: number): Genes =>
  fc.sample(arbitrary, { numRuns: 1, seed: seed + at })[0] as Genes;

/** One of the dearest with one of its genes changed. */
function mutated({ genes: parent }: Found, at: number): Genes {
  const fresh = sampleOf(fc.record(genes), at);
  const names = Object.keys(genes) as (keyof Genes)[];
  const name = names[at % names.length] ?? 'template';
  return { ...parent, [name]: fresh[name] };
}

describe('an attacker who may make any legal workflow, input and output', () => {
  it(
    `finds none that takes a turn of more than ${turnMs} ms, or never ends (seed ${seed}, ${seconds} s)`,
    async () => {
      const until = performance.now() + seconds * 1_000;
      let dearest: readonly Found[] = [];
      for (let at = 0; performance.now() < until; at += 1) {
        const parent = dearest[at % Math.max(1, dearest.length)];
        const candidate = parent === undefined || at % 3 === 0 ? sampleOf(fc.record(genes), at) : mutated(parent, at);
        const found = await measure(candidate);
        const isFine = found.problem === undefined && found.ms < turnMs;
        // The whole candidate, for the report of a failure cuts deep objects.
        expect(isFine ? '' : JSON.stringify({ seed, at, ...found })).toBe('');
        dearest = [...dearest, found].toSorted((left, right) => right.ms - left.ms).slice(0, 8);
      }
      if (process.env['WORST_CASE_SHOW'] !== undefined)
        process.stdout.write(`${dearest.map((found) => JSON.stringify(found)).join('\n')}\n`);
      expect(dearest.length).toBeGreaterThan(0);
    },
    (seconds + 120) * 1_000,
  );
});
