import { expect, it, vi } from 'vitest';
import { executionOf, replyOf, SharedExecutions, specOf } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';

const replicas = useReplicas();

async function outcomeOf(shared: SharedExecutions) {
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 30_000, interval: 20 });
  return shared.outcomes[0];
}

it('the tokens of a reply count that is larger as JSON than a message of the event bus', {
  timeout: 60_000,
}, async () => {
  const shared = new SharedExecutions();
  replicas.start({ shared, ask: async () => replyOf('\u0001'.repeat(200_000)) });
  shared.put(executionOf('control'));
  const outcome = await outcomeOf(shared);
  expect(outcome?.reason).not.toBe('EventTooLarge');
  expect(outcome?.input_tokens).toBeGreaterThan(0);
});

it('a task that is larger as JSON than a message of the event bus fails by name of its field', {
  timeout: 60_000,
}, async () => {
  const shared = new SharedExecutions();
  const spec = specOf({ task: { instruction: 'Judge: {{input}}' } });
  replicas.start({ shared, spec, ask: async () => replyOf('fine') });
  const execution = executionOf('quoted');
  shared.put({ ...execution, spec: { ...execution.spec, input: '\u6f22'.repeat(200_000) } });
  expect(await outcomeOf(shared)).toMatchObject({
    reason: 'EventTooLarge',
    message: expect.stringContaining('spec.input takes 600'),
  });
});
