import { expect, it } from 'vitest';
import { checkDefinition } from './check.ts';

const problemsOf = (tool: string) => {
  const end = { kind: 'System', command: 'finalize', transitions: [] };
  const transitions = [{ condition: 'always', target: 'end' }];
  const call = { kind: 'System', command: 'call_tool', env: { tool }, transitions };
  const found = checkDefinition({ version: '1.0.0', initial_state: 'call', states: { call, end } });
  return found.map(({ path, message, severity }) => [severity, path, message]);
};

const at = 'spec.states.call.env.tool';

it.each([
  ['svc.workflow.lsit', 'error', 'there is no tool svc.workflow.lsit; did you mean svc.workflow.list?'],
  ['fs.raed', 'error', 'there is no tool fs.raed; did you mean fs.read?'],
  ['scv.tools.list', 'warning', 'scv.tools.list is no built-in tool; if no tool is registered by that name, write '],
])('a call_tool state of the tool %s has the %s that names the one that is meant', (tool, severity, message) => {
  expect(problemsOf(tool)).toEqual([[severity, at, expect.stringContaining(message) as string]]);
});

it.each(['svc.workflow.list', 'orders.place'])('one of the tool %s has none', (tool) => {
  expect(problemsOf(tool)).toEqual([]);
});
