import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { ModelReply } from '../../../lib/models/models.ts';
import { executionOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';

const replicas = useReplicas();

it('two replicas do not take turns on a conversation that fails with both: the one that has it asks the model alone', {
  timeout: 90_000,
}, async () => {
  const shared = new SharedExecutions();
  const asked: string[] = [];
  const failing = (who: string) => async (): Promise<ModelReply> => {
    asked.push(who);
    throw new TypeError('a fault');
  };
  replicas.start({ shared, ask: failing('a') });
  shared.put(executionOf('turns'));
  await vi.waitFor(() => expect(asked).toContain('a'), { timeout: 10_000 });
  replicas.start({ shared, ask: failing('b') });
  await systemClock.sleep(45_000);
  // Each letter once where a turn changes.
  const turns = asked.filter((who, index) => who !== asked[index - 1]).join('');
  expect(['a', 'ab', 'aba']).toContain(turns);
  expect(asked.length).toBeLessThan(9);
});
