import { expect, it, vi } from 'vitest';
import { executionOf, replyOf, SharedExecutions, specOf } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { JudgeFailed } from '../verdicts/judge.ts';

const replicas = useReplicas();

it.each([
  ['answer is no verdict', 'I cannot say'],
  ['execution failed', new JudgeFailed('agent critic: failed')],
])('a judge agent whose %s has taken its tokens', async (_why, output) => {
  const shared = new SharedExecutions();
  const spec = specOf({ execution: { validation: { agent: 'critic', threshold: 0.5 } } });
  const judges = {
    idle: async () => undefined,
    result: async () => ({ output, input_tokens: 70_000, output_tokens: 500, cost_usd: 3 }),
  };
  replicas.start({ shared, ask: async () => replyOf('ok'), spec, judges });
  shared.put(executionOf('tokens'));
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000 });
  const usage = { input_tokens: 70_001, output_tokens: 501 };
  expect(shared.outcomes[0]).toMatchObject({ phase: 'failed', reason: 'ValidationFailed', ...usage });
});
