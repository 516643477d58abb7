import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import type { State } from '../../crds/schema/state.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anOutcome, World } from '../../test/builders/world.ts';

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
  }),
) as fc.Arbitrary<State>;

const workflow: fc.Arbitrary<Workflow> = fc
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
const exits = fc.array(fc.constantFrom(0, 0, 0, 1, 2), { minLength: 1, maxLength: 20 });

const isOver = ({ status }: World): boolean => ['completed', 'failed', 'cancelled'].includes(status.phase);

/** Plays the part of the cluster and of people until the execution is over: pods end, signals come, time passes. */
function play(world: World, codes: readonly number[], act?: (round: number) => boolean): World {
  for (let round = 0; round < 2_000 && !isOver(world); round += 1) {
    world.step(() => act?.(round) ?? true);
    if (isOver(world)) break;
    if (act === undefined || act(round)) help(world, codes[round % codes.length] ?? 0);
  }
  return world.settle();
}

function help(world: World, exitCode: number): void {
  const [running] = world.running();
  if (running !== undefined) world.end(running, anOutcome({ exitCode, stdout: `out ${exitCode}` }));
  else if (world.status.phase === 'waiting')
    world.signal(world.status.state ?? '', 'yes', { visit: world.status.current?.visit });
  else if (world.decisions.at(-1)?.wakeAt !== undefined) world.wake();
}

describe('random workflows', () => {
  it('WF-RUN-09 WF-RUN-10 always end, and no limit is ever exceeded', () => {
    fc.assert(
      fc.property(workflow, exits, (flow, codes) => {
        const { status } = play(new World(flow), codes);
        expect(['completed', 'failed']).toContain(status.phase);
        expect(status.transitions).toBeLessThanOrEqual(flow.spec.max_total_transitions ?? limits.transitionsDefault);
        for (const [name, visits] of Object.entries(status.visits ?? {})) {
          expect(visits).toBeLessThanOrEqual(flow.spec.states[name]?.max_state_visits ?? limits.stateVisitsDefault);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('the same facts at the same time give the same decision, and what is settled stays settled', () => {
    fc.assert(
      fc.property(workflow, exits, (flow, codes) => {
        const world = new World(flow);
        for (let round = 0; round < 40 && !isOver(world); round += 1) {
          expect(world.decision()).toEqual(world.decision());
          world.settle();
          expect(world.decision().status).toEqual(world.status);
          help(world, codes[round % codes.length] ?? 0);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('an action that got lost after the status was written is decided again: the end is the same', () => {
    fc.assert(
      fc.property(workflow, exits, fc.infiniteStream(fc.boolean()), (flow, codes, coin) => {
        const lost = new Map<number, boolean>();
        const act = (round: number): boolean => {
          const known = lost.get(round) ?? coin.next().value === true;
          lost.set(round, known);
          return known;
        };
        const undisturbed = play(new World(flow), [0]);
        const disturbed = play(new World(flow), [0], act);
        expect(disturbed.status.phase).toBe(undisturbed.status.phase);
        expect(disturbed.status.reason).toBe(undisturbed.status.reason);
        expect(disturbed.visits()).toEqual(undisturbed.visits());
        expect([...disturbed.pods.keys()].toSorted()).toEqual([...undisturbed.pods.keys()].toSorted());
        expect(codes.length).toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
  });

  it('when it is over nothing is left running or held', () => {
    fc.assert(
      fc.property(workflow, exits, fc.integer({ min: 0, max: 30 }), (flow, codes, cancelAt) => {
        const world = new World(flow);
        for (let round = 0; round < cancelAt && !isOver(world); round += 1) {
          world.step();
          help(world, codes[round % codes.length] ?? 0);
        }
        world.cancel().settle();
        expect(isOver(world)).toBe(true);
        expect(world.running()).toEqual([]);
        expect([...world.pods.values()].filter(({ held }) => held)).toEqual([]);
        expect(world.status.current).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });
});
