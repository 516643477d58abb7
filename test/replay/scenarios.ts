import type { State } from '../../crds/schema/state.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { aScript, aWorkflow } from '../builders/workflow-builder.ts';
import type { World, WorldOptions } from '../builders/world.ts';
import type { OutcomeFields } from '../builders/world-pods.ts';

/** A workflow and what happens to its run between decisions, in order; `undefined` is a mere look. */
interface Scenario {
  readonly name: string;
  readonly workflow: Workflow;
  readonly options?: WorldOptions;
  readonly happen: readonly ((world: World) => void)[];
}

const one = (state: State): Workflow => aWorkflow('recorded').state('a', state).build();
const parallel = (fields: object): Workflow =>
  one({
    kind: 'ParallelContainerRun',
    steps: ['x', 'y'].map((name) => ({ name, image: 'i', command: ['x'] })),
    transitions: [],
    ...fields,
  } as State);

const pass = (ms: number) => (world: World) => void world.pass(ms);
const end = (what: string, fields?: OutcomeFields) => (world: World) => void world.end(what, fields);
const lost: OutcomeFields = { exitCode: -1, failure: { reason: 'NodeLost', message: 'node node2 does not answer' } };
const drained: OutcomeFields = { exitCode: 143, failure: { reason: 'PodDrained', message: 'Eviction API: evicting' } };
const queued = (world: World): void => {
  world.waiting = { reason: 'WaitingForNode', message: 'Unschedulable: 0/2 nodes are available.', since: 0 };
};
const full = (world: World): void => {
  world.blocked = { reason: 'QuotaExceeded', message: 'exceeded quota: q' };
};
const room = (world: World): void => {
  world.blocked = undefined;
};
const letGo = (world: World): void => {
  for (const [name, pod] of world.pods) world.pods.set(name, { ...pod, begunAt: world.now, waiting: undefined });
};
const nothing = (): void => undefined;

/** Events of a run beyond the examples. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'timeout-of-the-manifest',
    workflow: one(aScript('x', { timeout: '30s' })),
    happen: [nothing, pass(30_000), pass(1_000)],
  },
  {
    name: 'timeout-by-default',
    workflow: one(aScript('x')),
    happen: [nothing, pass(5_000), nothing, pass(295_000), pass(1_000)],
  },
  {
    name: 'timeout-of-parallel-steps',
    workflow: parallel({ timeout: '10s', completion: 'best_effort' }),
    happen: [end('a/x', { stdout: 'in time' }), pass(10_000), pass(1_000)],
  },
  {
    name: 'node-lost',
    workflow: one(aScript('x', { retry: { max_attempts: 2, backoff: '5s' } })),
    happen: [end('a', lost), end('a', { exitCode: 1 }), pass(5_000), end('a', { stdout: 'third' })],
  },
  {
    name: 'drained-four-times',
    workflow: parallel({ retry_on_disruption: true }),
    happen: [end('a/y'), ...Array.from({ length: 4 }, () => end('a/x', drained))],
  },
  {
    name: 'quota',
    workflow: one(aScript('x')),
    happen: [full, nothing, pass(10_000), room, nothing, end('a')],
  },
  {
    name: 'never-started',
    workflow: aWorkflow('recorded')
      .state('first', aScript('x', { next: 'a' }))
      .state('a', aScript('x'))
      .build(),
    happen: [queued, pass(60_000), letGo, end('first'), nothing, pass(3_600_000)],
  },
  {
    name: 'cancelled-while-steps-run',
    workflow: parallel({}),
    happen: [end('a/x'), pass(3_000), (world) => void world.cancel('enough')],
  },
  {
    name: 'references',
    workflow: aWorkflow('recorded')
      .state('a', aScript('x', { next: 'b' }))
      .state('b', aScript('echo {{a.output.stdout}}'))
      .with({ output_template: { said: '{{b.output.stdout}}' } })
      .build(),
    happen: [end('a', { stdout: 'large '.repeat(1_000) }), end('b', { stdout: 'larger '.repeat(1_000) })],
  },
  {
    name: 'budget-of-the-store',
    workflow: one(aScript('x')),
    options: { budget: 1_000 },
    happen: [end('a', { stdout: 'large '.repeat(1_000) })],
  },
];
