import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { conversationLogs } from '../../../lib/conversation/record.ts';
import { executionOf, replyOf, SharedExecutions, specOf, startReplica } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { createConversationFeed } from '../conversation/live.ts';
import { JudgeFailed } from '../verdicts/judge.ts';
import type { JudgeAgents } from '../verdicts/judge-agents.ts';

const replicas = useReplicas();

it.each([
  ['answer is no verdict', 'I cannot say'],
  ['execution failed', new JudgeFailed('agent critic: failed')],
])('a judge agent whose %s has taken its tokens', async (_why, output) => {
  const shared = new SharedExecutions();
  const spec = specOf({ execution: { validation: { agent: 'critic', threshold: 0.5 } } });
  const judges = {
    idle: async () => undefined,
    result: async () => ({ judge: 'judge-1', output, input_tokens: 70_000, output_tokens: 500, cost_usd: 3 }),
  };
  replicas.start({ shared, ask: async () => replyOf('ok'), spec, judges });
  shared.put(executionOf('tokens'));
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000 });
  const usage = { input_tokens: 70_001, output_tokens: 501 };
  expect(shared.outcomes[0]).toMatchObject({ phase: 'failed', reason: 'ValidationFailed', ...usage });
});

it('the tokens of a judge agent count once where its replica ends behind their record, and another one repeats it', async () => {
  const shared = new SharedExecutions();
  const spec = specOf({ execution: { validation: { agent: 'critic', threshold: 0.5 } } });
  const usage = { input_tokens: 70_000, output_tokens: 500, cost_usd: 3 };
  const result = vi.fn<JudgeAgents['result']>(async () => ({ judge: 'judge-1', output: 'I cannot say', ...usage }));
  const bus = replicas.connect();
  const logs = bus.logs(conversationLogs);
  // The process ends before the record of the end, which follows that of the tokens.
  const append: typeof logs.append = (message) =>
    String(message.body).includes('"kind":"ended"') ? new Promise(() => undefined) : logs.append(message);
  const dying = new Proxy(bus, {
    get: (target, name) => {
      const value: unknown = name === 'logs' ? () => ({ ...logs, append }) : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  startReplica({
    shared,
    bus: dying,
    ask: async () => replyOf('ok'),
    spec,
    judges: { idle: async () => undefined, result },
  });
  shared.put(executionOf('twice'));
  const kinds = async () =>
    (await createConversationFeed(replicas.connect(), systemClock).read('acme', 'twice', 0)).map(
      ({ record }) => record.kind,
    );
  await vi.waitFor(async () => expect(await kinds()).toContain('judge_replied'), { timeout: 10_000 });
  await bus.close(0);
  replicas.start({ shared, ask: async () => replyOf('ok'), spec, judges: { idle: async () => undefined, result } });
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000 });
  expect(result).toHaveBeenCalledTimes(2);
  expect(shared.outcomes[0]).toMatchObject({
    reason: 'ValidationFailed',
    input_tokens: 70_001,
    output_tokens: 501,
    cost_usd: 3,
  });
});
