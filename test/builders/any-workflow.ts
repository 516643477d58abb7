import fc from 'fast-check';
import type { State } from '../../crds/schema/state.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { World } from './world.ts';
import { anOutcome } from './world-pods.ts';

const names = ['a', 'b', 'c', 'd', 'e'] as const;

const condition = fc.constantFrom(
  undefined,
  'always' as const,
  'on_success' as const,
  'on_failure' as const,
  'exit_code_zero' as const,
  'exit_code_non_zero' as const,
);
const rule = fc.record({
  condition,
  target: fc.constantFrom(...names),
  feedback: fc.constantFrom(undefined, '{{a.status}}!'),
});
const common = {
  transitions: fc.array(rule, { maxLength: 3 }),
  max_state_visits: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
  timeout: fc.constantFrom(undefined, '1s', '5m'),
};
/** Rules that apply to a gate; the last one takes the answer that people give in the end. */
const answers = fc.tuple(
  fc.array(
    fc.record({
      condition: fc.constantFrom(undefined, 'input_equals_no' as const, 'input_equals_yes' as const),
      target: fc.constantFrom(...names),
    }),
    { maxLength: 2 },
  ),
  fc.record({ condition: fc.constant('input_equals_yes' as const), target: fc.constantFrom(...names) }),
);
const image = fc.constant('busybox');
const command = fc.constantFrom(['true'], ['echo', '{{b.output.stdout}} {{state.feedback}}']);
const retry = fc.option(
  fc.record({ max_attempts: fc.integer({ min: 1, max: 4 }), backoff: fc.constantFrom('0s', '3s') }),
  { nil: undefined },
);
const step = (name: string) => fc.record({ name: fc.constant(name), image, command });
const state = fc.oneof(
  fc.record({
    kind: fc.constant('System'),
    command: fc.constantFrom('finalize', 'update_context', 'ls'),
    env: fc.constant({ k: '{{a.status}}' }),
    ...common,
  }),
  fc.record({ kind: fc.constant('ContainerRun'), image, command, retry, ...common }),
  fc.record({
    kind: fc.constant('ParallelContainerRun'),
    steps: fc.tuple(step('x'), step('y')),
    completion: fc.constantFrom('all_succeed', 'any_succeed', 'best_effort'),
    ...common,
  }),
  fc.record({
    kind: fc.constant('Human'),
    prompt: fc.constant('{{c.status}}?'),
    default_response: fc.constantFrom(undefined, 'yes'),
    ...common,
    transitions: fc.option(
      answers.map(([some, last]) => [...some, last]),
      { nil: [] },
    ),
  }),
) as fc.Arbitrary<State>;

/** A workflow of five states of every kind that has no model, with rules between any of them. */
export const anyWorkflow: fc.Arbitrary<Workflow> = fc
  .record({
    states: fc.tuple(state, state, state, state, state),
    max_total_transitions: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
  })
  .map(({ states, ...spec }) => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name: 'random' },
    spec: {
      version: '1.0.0',
      initial_state: 'a',
      states: Object.fromEntries(states.map((one, index) => [names[index], structuredClone(one)])),
      ...spec,
    },
  }));

/** Exit codes of the containers, in the order in which they end. */
export const anyExits = fc.array(fc.constantFrom(0, 0, 0, 1, 2), { minLength: 1, maxLength: 20 });

export const isOver = ({ status }: World): boolean => ['completed', 'failed', 'cancelled'].includes(status.phase);

/** Lets what the world waits for happen: a pod ends, a signal comes, or time passes. */
export function help(world: World, exitCode: number): void {
  const [running] = world.running();
  if (running !== undefined) world.end(running, anOutcome({ exitCode, stdout: `out ${exitCode}` }));
  else if (world.status.phase === 'waiting') answer(world);
  else if (world.decisions.at(-1)?.wakeAt !== undefined) world.wake();
}

/** The first answer is a typing error. */
function answer(world: World): void {
  const { state = '', current } = world.status;
  const response = current?.signals_refused === undefined ? 'maybe' : 'yes';
  world.signal(state, response, { visit: current?.visit });
}
