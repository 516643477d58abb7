import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { ModelRequest } from '../../../lib/models/models.ts';
import type { DispatchResult } from '../../../lib/tools/tool.ts';
import { executionOf, podTool, replyOf, SharedExecutions, startReplica } from '../../../test/agents/replica.ts';
import { startTestBus } from '../../../test/nats/test-bus.ts';
import { createConversationFeed } from '../conversation/live.ts';

const result: DispatchResult = { exit_code: 0, stdout: 'out', stderr: '', duration_ms: 1, truncated: false };
const never = new AbortController().signal;

/** Calls the tool of the pod once, and answers then. */
const ask = async ({ messages }: ModelRequest) =>
  messages.some(({ role }) => role === 'tool') ? replyOf('ok') : replyOf('', [['fs.write', {}]]);

it('AMB-197 a pod hears that its result was taken once that is written down, so that no crash offers the command again', async () => {
  const nats = await startTestBus();
  const shared = new SharedExecutions();
  const first = startReplica({ bus: nats.connect(), shared, ask, tools: [podTool(false)] });
  const execution = executionOf('reported');
  shared.put(execution);
  const conversation = await first.drivers.open(execution, never);
  const { dispatch_id: id = '' } = (await conversation?.channel.ask('pod-1', never)) ?? {};
  await nats.server.kill();
  const waits = [150, 150].map((ms) => conversation?.channel.report(id, result, AbortSignal.timeout(ms)));
  for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'unavailable' });
  const other = conversation?.channel.report(id, { ...result, exit_code: 1 }, never);
  await expect(other).rejects.toMatchObject({ code: 'conflict', reason: 'ResultConflict' });
  await nats.server.start();
  await conversation?.channel.report(id, result, never);
  const feed = createConversationFeed(nats.connect(), systemClock);
  const records = (await feed.read('acme', 'reported', 0)).map(({ record }) => record);
  expect(records).toContainEqual(expect.objectContaining({ kind: 'tool_ended', dispatch_id: id, content: 'out' }));
  await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ output: 'ok', tool_calls: 1 }]), 20_000);
  await first.stop();
  await nats.stop();
});

it('AMB-038 a pod sends the result of a command again that this driver does not know, while NATS says nothing of a next one', async () => {
  const nats = await startTestBus();
  const shared = new SharedExecutions();
  const replica = startReplica({ bus: nats.connect(), shared, ask, tools: [podTool(false)] });
  const execution = executionOf('unseen');
  shared.put(execution);
  const conversation = await replica.drivers.open(execution, never);
  await conversation?.channel.ask('pod-1', never);
  await expect(conversation?.channel.report('of-the-next', result, never)).rejects.toMatchObject({ code: 'not_found' });
  await nats.server.kill();
  const report = conversation?.channel.report('of-the-next', result, never);
  await expect(report).rejects.toMatchObject({ code: 'unavailable' });
  await nats.server.start();
  await replica.stop();
  await nats.stop();
});
