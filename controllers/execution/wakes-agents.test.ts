import { expect, it } from 'vitest';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { executionWakes } from './wakes.ts';

const anAgent = (parent?: object): AgentExecution =>
  ({
    metadata: { name: 'a', namespace: 'acme', uid: 'a-1' },
    spec: { agent: 'writer', ...(parent === undefined ? {} : { parent }) },
  }) as AgentExecution;
const parent = { name: 'run', uid: 'w-1', state: 's', visit: 1 };

const woken = (before: AgentExecution | undefined, after: AgentExecution | undefined) =>
  executionWakes.agents?.({ before, after, own: false } as never, {} as never);

it.each([
  ['that is new', undefined, anAgent(parent)],
  ['that changes', anAgent(parent), anAgent(parent)],
  ['that is gone', anAgent(parent), undefined],
])('an agent %s wakes the execution whose state started it', (_name, before, after) => {
  expect(woken(before, after)).toEqual(['acme/run']);
});

it('an agent that no state started wakes no execution of a workflow', () => {
  expect(woken(undefined, anAgent())).toEqual([]);
});
