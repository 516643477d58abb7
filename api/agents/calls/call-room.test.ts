import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { ownArgumentBytes } from '../../../lib/conversation/held-bytes.ts';
import type { ModelRequest } from '../../../lib/models/models.ts';
import type { Tool } from '../../../lib/tools/tool.ts';
import { executionOf, podTool, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';

const replicas = useReplicas();

it('arguments of calls of models count to the room of their conversations, by what they take as values', {
  timeout: 120_000,
}, async () => {
  const shared = new SharedExecutions();
  const args = { lists: Array.from({ length: 85_000 }, () => []) };
  const bytes = ownArgumentBytes(args);
  expect(bytes).toBeGreaterThan(5 * 1024 * 1024);
  let [underWay, most] = [0, 0];
  const tool: Tool = {
    ...podTool(true),
    name: 'count',
    run: {
      kind: 'api',
      run: async () => {
        most = Math.max(most, (underWay += 1));
        await systemClock.sleep(300);
        underWay -= 1;
        return { content: 'done', isError: false };
      },
    },
  };
  const ask = async ({ messages }: ModelRequest) =>
    messages.some(({ role }) => role === 'tool') ? replyOf('the end') : replyOf('', [['count', args]]);
  replicas.start({ shared, ask, tools: [tool], poolBytes: 20 * 1024 * 1024 });
  for (let index = 0; index < 3; index += 1) shared.put(executionOf(`counts-${index}`));
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(3), { timeout: 90_000, interval: 50 });
  expect(shared.outcomes.map(({ output, tool_calls }) => [output, tool_calls])).toEqual(Array(3).fill(['the end', 1]));
  expect(most).toBe(1);
});
