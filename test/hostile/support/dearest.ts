import type { Workflow } from '../../../crds/schema/workflow.ts';
import { anEnd, anUpdate, aWorkflow } from '../../builders/workflow-builder.ts';
import { hostileShapes } from './json-shapes.ts';

/** A chain of states without a process, and the input that makes it dear. */
interface Dear {
  readonly workflow: Workflow;
  /** JSON text of the input's member `a`. */
  readonly input: string;
}

interface Sizes {
  readonly shape: string;
  readonly template: string;
  readonly keys: number;
  readonly states: number;
  readonly rule: string;
  readonly rules: number;
}

/**
 * The dearest legal workflows without a process from the search of `worst-case.test.ts`: those with the most CPU time
 * for an execution, and those with the longest turns.
 */
const dear: Readonly<Record<string, Sizes>> = {
  'whole-boards': {
    shape: 'one string of other letters',
    template: '{{json blackboard}}'.repeat(10),
    keys: 1,
    states: 40,
    rule: 'input.a == "x"',
    rules: 1,
  },
  'many-boards': {
    shape: 'numbers',
    template: '{{json blackboard}}',
    keys: 50,
    states: 40,
    rule: 'blackboard == input.a',
    rules: 0,
  },
  comparisons: {
    shape: 'objects that share no key',
    template: '{{json input.a}}',
    keys: 1,
    states: 10,
    rule: 'blackboard == input.a',
    rules: 18,
  },
  copies: {
    shape: 'one object of many fields',
    template: '{{input.a}}'.repeat(10),
    keys: 5,
    states: 10,
    rule: 'blackboard == input.a',
    rules: 0,
  },
  'spent-budgets': {
    shape: 'one object of many fields',
    template: 'x',
    keys: 1,
    states: 40,
    rule: '"{{json input.a}}" == "x"',
    rules: 18,
  },
};

function workflowOf(name: string, { template, keys, states, rule: expression, rules }: Sizes): Workflow {
  const env = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, `${template}${index % 7}`]));
  const customs = Array.from({ length: rules }, () => ({ condition: 'custom' as const, expression, target: 'end' }));
  const builder = aWorkflow(name).with({ max_total_transitions: 100 });
  for (let state = 0; state < states; state += 1) {
    const update = anUpdate(env, state + 1 === states ? 'end' : `s${state + 1}`);
    builder.state(`s${state}`, { ...update, transitions: [...customs, ...update.transitions] });
  }
  return builder.state('end', anEnd()).build();
}

/** The dearest executions without a process that are known, by name of their workflows. */
export function dearestExecutions(): readonly Dear[] {
  return Object.entries(dear).map(([name, sizes]) => ({
    workflow: workflowOf(name, sizes),
    input: hostileShapes[sizes.shape] ?? 'null',
  }));
}
