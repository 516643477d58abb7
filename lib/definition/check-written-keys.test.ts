import { describe, expect, it } from 'vitest';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import type { State } from '../../crds/schema/state.ts';
import { checkDefinition } from './check.ts';

const rules = [{ target: 'end' }];
const update = (env: object, command = 'update_context') =>
  ({ kind: 'System', command, env, transitions: rules }) as State;
const child = (fields: object) => ({ kind: 'Subworkflow', workflow_id: 'w', transitions: rules, ...fields }) as State;
const found = (state: State) =>
  checkDefinition(aWorkflow('w').state('a', state).state('end', anEnd()).build().spec)
    .filter(({ rule }) => rule === 'hides_entry')
    .map(({ at, severity, message }) => [severity, at.slice(3).join('.'), message.split(':')[0]]);
const own = 'is the name of this state, whose entry it hides';
const other = 'is the name of another state';

describe('WF-RUN-03 keys of the Blackboard that are names of states', () => {
  it.each<[what: string, state: State, want: unknown[]]>([
    ['update_context under its own name', update({ a: 'v1', b: 'v' }), [['warning', 'env.a', own]]],
    [
      'update_context under the name of another state',
      update({ end: 'v1' }, ' update_context\n'),
      [['warning', 'env.end', other]],
    ],
    ['result_key of its own name', child({ result_key: 'a' }), [['warning', 'result_key', own]]],
    ['result_key of another state', child({ result_key: 'end' }), [['warning', 'result_key', other]]],
    ['result_key that is ignored', child({ result_key: 'a', mode: 'fire_and_forget' }), []],
    ['variables of a command', update({ a: 'v1' }, 'echo $a'), []],
    ['other keys', update({ A: 'v1', constructor: 'v' }), []],
    ['no key', child({}), []],
  ])('%s', (_what, state, want) => {
    expect(found(state)).toEqual(want);
  });
});
