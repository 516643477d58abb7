import { describe, expect, it } from 'vitest';
import type { State } from '../../crds/schema/state.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { World } from '../../test/builders/world.ts';
import { isAwaited } from './observe.ts';
import { createMadeChildren } from './made-children.ts';

const childWorkflow = aWorkflow('child').state('c', anEnd()).build();

function aParent(mode: 'blocking' | 'fire_and_forget'): World {
  const start: State = { kind: 'Subworkflow', workflow_id: 'child', mode, transitions: [{ target: 'end' }] };
  const workflow = aWorkflow('w').state('s', start).state('end', anEnd()).build();
  return new World(workflow, { workflows: [childWorkflow] });
}

/** As an engine of another version wrote it down: that it is about to make a child of this name. */
function rename(world: World, name: string): void {
  const { status } = world.execution;
  if (status?.current === undefined) throw new Error('the parent is in no state');
  world.execution = { ...world.execution, status: { ...status, current: { ...status.current, child: { name } } } };
}

describe('a child whose name another version of the engine has chosen', () => {
  it('is made under that name', () => {
    const world = aParent('blocking');
    world.step(() => false);
    rename(world, 'w-by-the-old-scheme');
    world.settle();
    expect([...world.children.keys()]).toEqual(['w-by-the-old-scheme']);
  });

  it('is found under that name, and no second one is made', () => {
    const world = aParent('blocking').settle();
    const [[name, child] = ['', undefined]] = world.children;
    world.children.clear();
    if (child !== undefined) world.children.set(`${name}-old`, { ...child, name: `${name}-old` });
    rename(world, `${name}-old`);
    world.settle();
    expect([...world.children.keys()]).toEqual([`${name}-old`]);
    expect(world.status.current?.child).toEqual({ name: `${name}-old`, uid: child?.uid });
  });
});

describe('a child that was made and is gone before its parent has seen it', () => {
  function gone(mode: 'blocking' | 'fire_and_forget') {
    const world = aParent(mode);
    world.step();
    const [name = ''] = world.children.keys();
    world.children.clear();
    return world.decision({ made: new Map([[name, 'uid-of-it']]) });
  }

  it('counts as started where it was fired and forgotten', () => {
    const { actions, status } = gone('fire_and_forget');
    expect(actions.filter(({ kind }) => kind === 'create_child')).toEqual([]);
    expect(status.history?.[0]).toMatchObject({ state: 's', status: 'success' });
    expect(JSON.stringify(status.blackboard)).toContain('uid-of-it');
  });

  it('fails its state where that waits for it, and is not made again', () => {
    const { actions, status } = gone('blocking');
    expect(actions.filter(({ kind }) => kind === 'create_child')).toEqual([]);
    expect(status.history?.[0]).toMatchObject({ status: 'failed', reason: 'SubworkflowFailed' });
  });
});

describe('a child that has ended', () => {
  it.each([
    { awaited: true, deleted: false },
    { awaited: false, deleted: true },
  ])(
    'whose time is over is deleted: $deleted, where its parent has yet to see it: $awaited',
    ({ awaited, deleted }) => {
      const world = new World(childWorkflow, { executionTtlSeconds: 60 }).settle().pass(60_000);
      const { actions, wakeAt } = world.decision({ awaited });
      expect(actions.some(({ kind }) => kind === 'delete_execution')).toBe(deleted);
      expect(wakeAt === world.now + 5_000).toBe(awaited);
    },
  );

  const child = (parent: object = {}): WorkflowExecution =>
    anExecution('kid')
      .with({ parent: { name: 'demo-1', uid: 'p', state: 's', visit: 1, depth: 1, ...parent } })
      .build();
  const inState = (current: object, uid = 'p'): WorkflowExecution => {
    const built = anExecution()
      .now({ state: 's', kind: 'Subworkflow', child: { name: 'kid' }, ...current })
      .build();
    return { ...built, metadata: { ...built.metadata, uid } };
  };
  const cases: Record<string, { parent: WorkflowExecution | undefined; reference?: object; want: boolean }> = {
    'that has named it and not seen it': { parent: inState({}), want: true },
    'that has seen it': { parent: inState({ child: { name: 'kid', uid: 'k' } }), want: false },
    'that names none': { parent: inState({ child: undefined }), want: false },
    'that is in another state': { parent: inState({ state: 't' }), want: false },
    'on another visit': { parent: inState({ visit: 2 }), want: false },
    'that waits for a person': { parent: inState({ kind: 'Human', child: undefined }), want: false },
    'of the same name made later': { parent: inState({}, 'q'), want: false },
    'that is gone': { parent: undefined, want: false },
    'that has ended': { parent: anExecution().ended('completed', 1).build(), want: false },
  };
  it.each(Object.entries(cases))('is awaited by a parent %s', (_, { parent, want }) => {
    expect(isAwaited(child(), parent)).toBe(want);
  });

  it('is not awaited where it has no parent', () => {
    expect(isAwaited(anExecution('kid').build(), inState({}))).toBe(false);
  });
});

it('children that were made are known until their parent is forgotten', () => {
  const made = createMadeChildren();
  made.add('p', 'a', 'ua');
  made.add('p', 'b', 'ub');
  expect([...made.of('p')]).toEqual([
    ['a', 'ua'],
    ['b', 'ub'],
  ]);
  made.forget('p');
  expect(made.of('p').size).toBe(0);
});
