import { expect, it } from 'vitest';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { askedAliases, judgeAlias } from './asked-aliases.ts';

const spec = anAgent('reviewer', {
  execution: { validation: { threshold: 1, model: 'answers' }, tool_validation: { enabled: true, model: 'calls' } },
}).spec;

it('the alias of a judge is named by its own field, or by that of the agent where it has none', () => {
  expect(judgeAlias(spec, 'answers', 'answers').field).toBe('spec.execution.validation.model');
  expect(judgeAlias(spec, 'calls', 'calls').field).toBe('spec.execution.tool_validation.model');
  expect(judgeAlias(spec, 'calls', undefined)).toEqual({ alias: 'default', field: 'spec.runtime.model' });
});

it('an execution asks for its own model and for those of its judges, unless a judge is an agent or is off', () => {
  expect(askedAliases(spec).map(({ alias }) => alias)).toEqual(['default', 'answers', 'calls']);
  const execution = {
    validation: { threshold: 1, agent: 'x', model: 'y' },
    tool_validation: { enabled: false, model: 'z' },
  };
  expect(askedAliases({ ...spec, execution }).map(({ alias }) => alias)).toEqual(['default']);
});
