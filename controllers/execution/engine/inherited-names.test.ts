import { describe, expect, it } from 'vitest';
import type { State } from '../../../crds/schema/state.ts';
import { anEnd, anUpdate, aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';

/** Names that are legal in a definition and that every JavaScript object inherits. */
describe('names that objects inherit are names like any other', () => {
  it.each(['toString', 'valueOf', 'hasOwnProperty'])('AMB-061 WF-STATE-02 a state may be called %s', (name) => {
    const world = new World(aWorkflow('w').state('a', anUpdate({}, name)).state(name, anEnd()).build()).settle();
    expect(world.status).toMatchObject({ phase: 'completed' });
    expect(world.status.visits).toEqual({ a: 1, [name]: 1 });
  });

  it('WF-PCR-02 WF-PCR-06 a step may be called toString: it starts, is waited for and recorded', () => {
    const steps = ['a', 'toString'].map((name) => ({ name, image: 'i', command: ['x'] }));
    const state = { kind: 'ParallelContainerRun', steps, transitions: [] } as State;
    const world = new World(aWorkflow('w').state('p', state).build()).settle();
    expect(world.running()).toEqual(['p/a', 'p/toString']);
    world.end('p/a').settle().wake().settle();
    world.end('p/toString', { stdout: 'here' }).settle();
    expect(world.status.phase).toBe('completed');
    expect(world.board()['p']).toMatchObject({ output: { toString: { stdout: 'here' } } });
  });

  it('WF-STOR-05 WF-STOR-10 a shared volume may be called constructor', () => {
    const workflow = aWorkflow('w').with({ storage: { shared_volumes: [{ name: 'constructor' }] } });
    const world = new World(workflow.state('a', anEnd()).build());
    expect(world.step().actions).toMatchObject([{ kind: 'create_volume' }]);
  });

  it('WF-CR-10 a volume that is not there is not found in what objects inherit', () => {
    const lacking = aScript('x', { volumes: [{ name: 'constructor', mount_path: '/d' }] });
    const world = new World(aWorkflow('w').state('a', lacking).build()).settle();
    expect(world.status.history).toMatchObject([{ reason: 'VolumeFailed' }]);
  });

  it('AMB-075 WF-RUN-01 update_context keeps any key, __proto__ and toString among them', () => {
    const env = Object.fromEntries([
      ['__proto__', 'p'],
      ['toString', 't'],
      ['a.b/c', 'd'],
    ]);
    const world = new World(aWorkflow('w').state('a', anUpdate(env)).build()).settle();
    expect(Object.entries(world.board())).toEqual(expect.arrayContaining(Object.entries(env)));
  });
});
