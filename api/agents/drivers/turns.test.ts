import { expect, it, vi } from 'vitest';
import type { ModelReply } from '../../../lib/models/models.ts';
import { executionOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { fasterClock } from '../../../test/support/faster-clock.ts';

const replicas = useReplicas();

it('two replicas do not take turns on a conversation that fails with both: the one that has it asks the model alone', async () => {
  const shared = new SharedExecutions();
  const asked: string[] = [];
  const failing = (who: string) => async (): Promise<ModelReply> => {
    asked.push(who);
    throw new TypeError('a fault');
  };
  replicas.startFast({ shared, ask: failing('a') });
  shared.put(executionOf('turns'));
  await vi.waitFor(() => expect(asked).toContain('a'), { timeout: 10_000 });
  replicas.startFast({ shared, ask: failing('b') });
  await fasterClock.sleep(45_000);
  // Each letter once where a turn changes.
  const turns = asked.filter((who, index) => who !== asked[index - 1]).join('');
  expect(['a', 'ab', 'aba']).toContain(turns);
  expect(asked.length).toBeLessThan(9);
});
