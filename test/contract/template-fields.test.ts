import { describe, expect, it } from 'vitest';
import type { State } from '../../crds/schema/state.ts';
import { anEnd, aQuestion, aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { World } from '../builders/world.ts';

const spec = { input: { who: 'Ada' } };

/** A workflow that begins with this state; `next` and `other` end it. */
const beginningWith = (state: State, fields: object = {}) =>
  aWorkflow('w').state('first', state).state('next', anEnd()).state('other', anEnd()).with(fields).build();

const begun = (state: State): World => new World(beginningWith(state), { spec }).settle();
const planOf = (world: World) => [...world.pods.values()][0]?.plan;

describe('a template is rendered in every field that takes one, of the states that this version runs', () => {
  it('WF-TPL-01 command and env of a container', () => {
    const plan = planOf(begun(aScript('echo {{input.who}}', { env: { WHO: 'for {{input.who}}' }, next: 'next' })));
    expect(plan?.argv).toEqual(['sh', '-c', 'echo Ada']);
    expect(plan?.env).toEqual({ WHO: 'for Ada' });
  });

  it('WF-TPL-01 command and env of a step', () => {
    const step = {
      name: 'one',
      image: 'busybox:1.36',
      command: ['echo', '{{input.who}}'],
      env: { WHO: '{{input.who}}!' },
    };
    const plan = planOf(begun({ kind: 'ParallelContainerRun', steps: [step], transitions: [{ target: 'next' }] }));
    expect([plan?.argv, plan?.env]).toEqual([['echo', 'Ada'], { WHO: 'Ada!' }]);
  });

  it('WF-TPL-01 command and env of a System state', () => {
    const plan = planOf(
      begun({
        kind: 'System',
        command: 'echo {{input.who}}',
        env: { WHO: '{{input.who}}' },
        transitions: [{ target: 'next' }],
      }),
    );
    expect([plan?.argv, plan?.env]).toEqual([['sh', '-c', 'echo Ada'], { WHO: 'Ada' }]);
  });

  it('WF-TPL-01 prompt', () => {
    expect(begun(aQuestion('Greet {{input.who}}?', { yes: 'next', no: 'other' })).status.current?.prompt).toBe(
      'Greet Ada?',
    );
  });

  it('WF-TPL-01 input of a Subworkflow', () => {
    const child = { ...beginningWith(aQuestion('Well?', { yes: 'next', no: 'other' })), metadata: { name: 'child' } };
    const input = '{"to": "{{input.who}}"}';
    const parent = beginningWith({
      kind: 'Subworkflow',
      workflow_id: 'child',
      input,
      transitions: [{ target: 'next' }],
    } as State);
    const world = new World(parent, { spec, workflows: [child] }).settle();
    expect([...world.children.values()].map(({ spec: started }) => started.input)).toEqual([{ to: 'Ada' }]);
  });

  it.each([
    ['Ada', 'next'],
    ['Bob', 'other'],
  ])('WF-TPL-01 expression: for %s it leads to %s', (who, target) => {
    const rules = [{ condition: 'custom', expression: '{{input.who}} == "Ada"', target: 'next' }, { target: 'other' }];
    const first = { kind: 'System', command: 'finalize', transitions: rules } as State;
    expect(new World(beginningWith(first), { spec: { input: { who } } }).settle().visits()).toContain(target);
  });

  it('WF-TPL-01 feedback and output_template', () => {
    const transitions = [{ target: 'next', feedback: 'well done, {{input.who}}' }];
    const output_template = { said: '{{first.output.stdout}}', heard: '{{state.feedback}}', to: '{{input.who}}' };
    const world = new World(beginningWith(aScript('x', { transitions }), { output_template }), { spec }).settle();
    world.end('first', { stdout: 'hello' }).settle();
    expect(world.status.final_output).toEqual({ said: 'hello', heard: 'well done, Ada', to: 'Ada' });
  });
});
