import { describe, expect, it } from 'vitest';
import { createEndRoutes } from '../../controllers/execution/linked.ts';
import { inheritedLink, linkDepth } from '../../controllers/execution/engine/links.ts';
import { rootOf } from '../../controllers/execution/engine/names.ts';
import { annotations } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import type { StateOf } from '../../crds/schema/state.ts';
import { createCache } from '../../lib/informer/index.ts';
import { workflowSource } from '../../lib/stimulus/workflow-source.ts';
import { anExecution } from '../builders/execution-builder.ts';
import { anEnd, aWorkflow } from '../builders/workflow-builder.ts';
import { World } from '../builders/world.ts';

const onEnd = { source: 'workflow:loop', workflow: 'loop' };
const loop = aWorkflow('loop').state('end', anEnd()).build();
const max = limits.stimulusLinksMax;

/** The attacker may register workflows and routers of a tenant, and start executions in it. */
describe('AMB-189 a workflow whose end starts the workflow itself', () => {
  it(`comes to rest after ${max} links, with a warning that speaks of a loop`, () => {
    let marks: Record<string, string> = {};
    const worlds: World[] = [];
    for (let run = 0; run < max + 5; run += 1) {
      const world = new World(loop, { onEnd, workflows: [loop], annotations: marks }).settle();
      worlds.push(world);
      const next = world.linkPlans[0];
      if (next === undefined) break;
      marks = { ...next.annotations };
    }
    expect(worlds).toHaveLength(max + 1);
    const last = worlds.at(-1);
    expect(last?.status.stimulus?.reason).toBe('TooManyLinks');
    expect(last?.status.phase).toBe('completed');
    const warnings = last?.happenings.filter(({ type }) => type === 'Warning') ?? [];
    expect(warnings).toMatchObject([{ reason: 'StimulusRefused', message: expect.stringContaining('form a loop?') }]);
  });

  it.each([
    { depth: max - 1, starts: true },
    { depth: max, starts: false },
    { depth: max + 1, starts: false },
  ])('starts another with $depth links behind it: $starts', ({ depth, starts }) => {
    const marks = { [annotations.linkDepth]: String(depth) };
    const world = new World(loop, { onEnd, workflows: [loop], annotations: marks }).settle();
    expect(world.linkPlans).toHaveLength(starts ? 1 : 0);
  });

  it.each(['-5', '0x0', '', '1e-3', 'NaN', '99999999999', ' 1', '1,0'])(
    'starts nothing where the mark of its depth is %j, which Windlass never writes',
    (forged) => {
      const marks = { [annotations.linkDepth]: forged };
      expect(new World(loop, { onEnd, workflows: [loop], annotations: marks }).settle().linkPlans).toEqual([]);
    },
  );

  it('does not begin the chain anew through a child', () => {
    const parent = anExecution().build();
    parent.metadata.annotations = { [annotations.linkDepth]: '9' };
    const child = anExecution('child').build();
    child.metadata.annotations = inheritedLink(parent);
    expect(linkDepth(child)).toBe(9);
    expect(inheritedLink(anExecution().build())).toEqual({});
  });

  it('counts all of a chain, with its children, under the execution that began it', () => {
    const again: StateOf<'Subworkflow'> = {
      kind: 'Subworkflow',
      workflow_id: 'loop',
      mode: 'fire_and_forget',
      transitions: [],
    };
    const tree = aWorkflow('tree')
      .state('again', { ...again, transitions: [{ target: 'end' }] })
      .state('end', anEnd());
    const marks = { [annotations.linkRoot]: 'uid-first', [annotations.linkDepth]: '2' };
    const world = new World(tree.build(), { workflows: [loop], annotations: marks });
    expect(rootOf(world.execution)).toBe('uid-first');
    world.settle();
    expect([...world.children.values()].map(({ spec }) => spec.parent?.root)).toEqual(['uid-first']);
  });

  it.each([
    { there: limits.descendantsMax - 1, starts: true },
    { there: limits.descendantsMax, starts: false },
    { there: limits.descendantsMax + 1, starts: false },
  ])('starts another where $there are there under the first: $starts', ({ there, starts }) => {
    const world = new World(loop, { onEnd, workflows: [loop] });
    world.descendants = there;
    expect(world.settle().linkPlans).toHaveLength(starts ? 1 : 0);
    expect(world.status.stimulus?.reason).toBe(starts ? undefined : 'DescendantsExceeded');
  });
});

function routes(...routers: { readonly namespace: string; readonly names: readonly string[] }[]) {
  const cache = createCache<StimulusRouter, 'ended'>({
    indexes: {
      ended: ({ metadata, spec }) => Object.keys(spec.routes ?? {}).map((source) => `${metadata.namespace}/${source}`),
    },
  });
  const objects = routers.map(
    ({ namespace, names }, index): StimulusRouter => ({
      apiVersion: 'windlass.dev/v1',
      kind: 'StimulusRouter',
      metadata: {
        name: `r${index}`,
        namespace,
        uid: `u${index}`,
        creationTimestamp: `2026-01-0${index + 1}T00:00:00Z`,
      },
      spec: { routes: Object.fromEntries(names.map((name) => [workflowSource(name), `of-r${index}`])) },
    }),
  );
  cache.replaceAll(objects, '1');
  const isTenant = (namespace: string): boolean => namespace !== 'stray';
  const find = createEndRoutes({ routers: cache, isTenant });
  return (namespace: string, name: string, user?: string) =>
    find(namespace, {
      name,
      namespace,
      uid: 'u',
      version: '1.0.0',
      revision: 'r',
      spec: loop.spec,
      ...(user && { user }),
    })?.workflow;
}

/** The attacker writes routers in a namespace of their own, and knows what others call their workflows. */
describe('AMB-189 a route for executions that end', () => {
  const find = routes(
    { namespace: 'tenant-a', names: ['build'] },
    { namespace: 'tenant-b', names: ['payroll', 'build'] },
    { namespace: 'tenant-a', names: ['build', 'constructor'] },
    { namespace: 'stray', names: ['build'] },
  );

  it('is for executions of its own namespace alone', () => {
    expect(find('tenant-b', 'build')).toBe('of-r1');
    expect(find('tenant-a', 'payroll')).toBeUndefined();
  });

  it('belongs to the oldest router that has it', () => {
    expect(find('tenant-a', 'build')).toBe('of-r0');
    expect(find('tenant-a', 'constructor')).toBe('of-r2');
  });

  it('is not for workflows that a user keeps for themselves', () => {
    expect(find('tenant-a', 'build', 'hash-of-user')).toBeUndefined();
  });

  it('counts in tenants alone', () => {
    expect(find('stray', 'build')).toBeUndefined();
  });
});
