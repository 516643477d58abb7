import { describe, expect, it } from 'vitest';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { checkAgent } from '../agent/check-agent.ts';
import { checkCliTool } from '../cli-tool/check-cli-tool.ts';
import { checkDefinition } from './check.ts';

const env = { 'A=B': 'x', '': 'x', é: 'x', 'a.b-c': 'x', 'with blank': 'x', '1st': 'x' };
const refused = ['A=B', '', 'é'];

/** Last parts of the places that the check of a workflow with this state refuses. */
function names(state: object): unknown[] {
  const states = { s: { transitions: [], ...state } };
  const problems = checkDefinition({ version: '1.0.0', initial_state: 's', states });
  return problems.filter(({ rule }) => rule === 'variable_name').map(({ at, severity }) => [severity, ...at.slice(3)]);
}

const container = { image: 'busybox', command: ['true'], resources: { timeout: '60s' } };
const at = (...place: (string | number)[]) => refused.map((name) => ['error', ...place, 'env', name]);

describe('names of variables', () => {
  it.each<[string, object, unknown[]]>([
    ['a ContainerRun', { kind: 'ContainerRun', ...container, env }, at()],
    [
      'a step of a ParallelContainerRun',
      { kind: 'ParallelContainerRun', steps: [{ name: 'a', ...container, env }] },
      at('steps', 0),
    ],
    ['a System state with a command', { kind: 'System', command: 'make', env }, at()],
    ['update_context, whose names are keys of the Blackboard', { kind: 'System', command: 'update_context', env }, []],
  ])('are those that a pod can have, in %s', (_title, state, want) => {
    expect(names(state)).toEqual(want);
  });

  it('are those that a pod can have, in a CLI tool', () => {
    const tool = { description: 'd', input_schema: { type: 'object' }, image: 'busybox', command: ['true'], env };
    expect(checkCliTool(tool).map(({ at: place }) => place)).toEqual(refused.map((name) => ['spec', 'env', name]));
  });

  it('are those that a pod can have, in an agent', () => {
    const problems = checkAgent({ ...anAgent().spec, tools: [{ name: 'fs.*' }], env }).map(
      ({ path, message }) => `${path} ${message}`,
    );
    const message = 'is no name of a variable; use printable ASCII characters without =, as HTTP_PROXY';
    expect(problems).toEqual(['["A=B"]', '[""]', '["é"]'].map((name) => `spec.env${name} ${message}`));
  });
});
