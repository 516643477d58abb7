import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { conversationLogs } from '../../lib/conversation/record.ts';
import { waitingTool } from '../builders/waiting-tool.ts';
import { executionOf, type Replica, replyOf, SharedExecutions, startReplica } from '../agents/replica.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';

const [maxBytes, recordBytes] = [1_048_576, 16 * 1_024];

let nats: TestBus;
let replicas: EventBus[];
const open: Replica[] = [];

/** The attacker may run agents in her tenant, as many and with as long texts as she likes, against two replicas of the API. */
beforeAll(async () => {
  nats = await startTestBus();
  replicas = [nats.connect({ WINDLASS_CONVERSATIONS_MAX_MB: 1 }), nats.connect({ WINDLASS_CONVERSATIONS_MAX_MB: 1 })];
}, 300_000);
afterAll(async () => {
  await Promise.all(open.map((replica) => replica.stop()));
  await nats?.stop();
});

const busOf = (index: number): EventBus => replicas[index] ?? nats.connect();

async function flood(tenant: string, records: number): Promise<void> {
  const body = JSON.stringify({ kind: 'judge_replied', padding: 'x'.repeat(recordBytes) });
  for (let sent = 0; sent < records; sent += 20) {
    const batch = Array.from({ length: 20 }, (_, index) =>
      busOf(index % 2)
        .logs(conversationLogs)
        .append({ tenant, key: `${sent}-${index}`, body }),
    );
    await Promise.all(batch);
  }
}

async function bytesOf(tenant: string): Promise<number> {
  const connection = await connect({ servers: nats.server.url });
  const { streams } = await jetstreamManager(connection);
  const { state } = await streams.info(`WINDLASS_STREAM_conversations_${tenant}`);
  await connection.close();
  return state.bytes;
}

it('a tenant that writes sixteen times what all conversations may take displaces its own alone', async () => {
  const shared = new SharedExecutions();
  const isDone = { polite: Promise.withResolvers<void>(), greedy: Promise.withResolvers<void>() };
  const tool = waitingTool('wait', (caller) =>
    caller.tenant === 'ada' ? isDone.polite.promise : isDone.greedy.promise,
  );
  const ask = async ({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
    messages.some(({ role }) => role === 'tool') ? replyOf('done') : replyOf('', [['wait', {}]]);
  const first = startReplica({ bus: busOf(0), shared, ask, tools: [tool.tool] });
  open.push(first);
  const startedAt = new Date().toISOString();
  shared.put(executionOf('polite', { namespace: 'ada', startedAt }));
  shared.put(executionOf('greedy', { namespace: 'mallory', startedAt }));
  await vi.waitFor(() => expect(tool.callers()).toEqual(['ada', 'mallory']), { timeout: 20_000 });
  await flood('mallory', 1_024);
  expect(await bytesOf('mallory')).toBeLessThan(maxBytes);
  expect(await bytesOf('mallory')).toBeGreaterThan(maxBytes / 2);
  await flood('trudy', 256);
  expect((await bytesOf('mallory')) + (await bytesOf('trudy')) + (await bytesOf('ada'))).toBeLessThan(maxBytes);

  const stopped = first.stop();
  await systemClock.sleep(200);
  isDone.polite.resolve();
  isDone.greedy.resolve();
  await stopped;
  // Another replica reads both conversations from the beginning.
  open.push(startReplica({ bus: busOf(1), shared, ask, tools: [tool.tool] }));
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(2), { timeout: 60_000 });
  const outcomeOf = (uid: string) => shared.objects.get(uid)?.spec.result;
  expect(outcomeOf('polite')).toMatchObject({ phase: 'completed', output: 'done', tool_calls: 1 });
  expect(outcomeOf('greedy')).toMatchObject({ phase: 'failed', reason: 'ConversationLost' });
  expect(outcomeOf('greedy')?.message).toContain("tenant's conversations took more than its share");
}, 180_000);
