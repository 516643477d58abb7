import { describe, expect, it } from 'vitest';
import { rootOf } from '../../controllers/execution/engine/names.ts';
import { observeDescendants } from '../../controllers/execution/observe.ts';
import { limits } from '../../crds/limits.ts';
import type { StateOf } from '../../crds/schema/state.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createCache } from '../../lib/informer/index.ts';
import { anExecution } from '../builders/execution-builder.ts';
import { anEnd, aWorkflow } from '../builders/workflow-builder.ts';
import { World } from '../builders/world.ts';

const again: StateOf<'Subworkflow'> = {
  kind: 'Subworkflow',
  workflow_id: 'tree',
  mode: 'fire_and_forget',
  transitions: [{ condition: 'on_success', target: 'end' }],
};
const tree = aWorkflow('tree').state('again', again).state('end', anEnd()).build();
const max = limits.descendantsMax;

/** The attacker registers a workflow that starts itself twice and forgets both, and starts it once. */
describe('WF-SUB-10 a workflow that starts itself', () => {
  it.each([
    { there: max - 1, starts: true },
    { there: max, starts: false },
    { there: max + 1, starts: false },
  ])('starts another where $there are there: $starts', ({ there, starts }) => {
    const world = new World(tree, { workflows: [tree] });
    world.descendants = there;
    world.settle();
    expect(world.children.size).toBe(starts ? 1 : 0);
    expect(world.status.history?.[0]?.reason).toBe(starts ? undefined : 'DescendantsExceeded');
  });

  it('counts for the root, through whatever children, and for no other execution', () => {
    const root = anExecution('root').build();
    const { uid = '', namespace = '' } = root.metadata;
    const under = (
      name: string,
      parent: Partial<NonNullable<WorkflowExecution['spec']['parent']>>,
      place = namespace,
    ) => {
      const spec = { parent: { name: 'x', uid, state: 's', visit: 1, depth: 1, ...parent } };
      const built = anExecution(name).with(spec).build();
      return { ...built, metadata: { ...built.metadata, namespace: place, uid: `uid-${name}` } };
    };
    const all = [
      root,
      under('child', { root: uid }),
      under('grandchild', { root: uid, uid: 'uid-child', depth: 2 }),
      // One of an earlier release, which names only the execution above.
      under('earlier', {}),
      under('stranger', { root: uid }, 'elsewhere'),
      under('other', { root: 'another' }),
    ];
    const executions = createCache<WorkflowExecution, 'parentUid' | 'originUid' | 'root' | 'workflow'>({
      indexes: {
        parentUid: () => [],
        originUid: () => [],
        workflow: () => [],
        root: (one) => (one.spec.parent === undefined ? [] : [`${one.metadata.namespace}/${rootOf(one)}`]),
      },
    });
    executions.replaceAll(all, '1');
    const definition = { name: 'tree', namespace, uid: 'w', version: '1.0.0', revision: 'r', spec: tree.spec };
    for (const execution of all.slice(0, 4)) {
      expect(observeDescendants({ executions }, execution, definition)).toBe(3);
    }
  });
});
