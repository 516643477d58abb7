import { afterAll, expect, it, vi } from 'vitest';
import type { EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import type { Tool, ToolAnswer } from '../../../lib/tools/tool.ts';
import { executionOf, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { startWay, type Way } from '../../../test/support/way.ts';
import { createConversationFeed } from '../conversation/live.ts';

const replicas = useReplicas({ areConcurrent: true });
const ways: Way[] = [];
afterAll(() => Promise.all(ways.map((way) => way.close())));

async function kindsOf(uid: string): Promise<string[]> {
  const feed = createConversationFeed(await replicas.connected(), systemClock);
  return (await feed.read('acme', uid, 0)).map(({ record }) => record.kind);
}

const isIn = (uid: string, kind: string) =>
  vi.waitFor(async () => expect(await kindsOf(uid)).toContain(kind), { timeout: 20_000, interval: 50 });

/** A connection that a way leads, and that can break without the server. */
async function overWay() {
  const way = await startWay();
  ways.push(way);
  way.leadTo(Number(new URL(replicas.server.url).port));
  return { way, bus: await connected(replicas.connect({ WINDLASS_NATS_URL: way.url.replace('http:', 'nats:') })) };
}

const isLost = (bus: EventBus) => vi.waitFor(() => expect(bus.problem()).toBeDefined(), { timeout: 5_000 });
/** A replica's connection that is there: its first look finds what the server knows. */
async function connected(bus: EventBus): Promise<EventBus> {
  await isBack(bus);
  return bus;
}

const isBack = (bus: EventBus) =>
  vi.waitFor(() => expect(bus.problem()).toBeUndefined(), { timeout: 5_000, interval: 10 });

/** A tool that runs once, until the test says what it answers. */
function onceTool() {
  const answer = Promise.withResolvers<ToolAnswer>();
  const run = vi.fn<() => Promise<ToolAnswer>>(() => answer.promise);
  const tool: Tool = {
    name: 'count',
    description: 'counts',
    input_schema: { type: 'object' },
    skip_judge: true,
    idempotent: false,
    fleet_capable: false,
    run: { kind: 'api', run },
  };
  return { tool, run, end: (content: string): void => answer.resolve({ content, isError: false }) };
}

const callOnce = async ({ messages }: ModelRequest): Promise<ModelReply> => {
  const { role, content } = messages.at(-1) ?? { role: '', content: '' };
  return role === 'tool' ? replyOf(`heard ${content}`) : replyOf('', [['count', {}]]);
};

const outcomeOf = (shared: SharedExecutions) =>
  vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000 }).then(() => shared.outcomes[0]);

/** A replica loses its connection while its call runs; another one can take the conversation over. */
async function cutOffInCall(uid: string) {
  const shared = new SharedExecutions();
  const { tool, run, end } = onceTool();
  const { way, bus } = await overWay();
  const other = await connected(replicas.connect());
  replicas.start({ shared, ask: callOnce, tools: [tool], bus });
  shared.put(executionOf(uid));
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), { timeout: 20_000 });
  way.cut();
  await isLost(bus);
  const takeOver = async (): Promise<void> => {
    replicas.start({ shared, ask: callOnce, tools: [tool], bus: other });
    await isIn(uid, 'taken_over');
  };
  return { shared, run, end, way, bus, takeOver };
}

it.concurrent('a conversation is not taken from a replica whose connection breaks for a moment, and its model is asked once', {
  timeout: 60_000,
}, async () => {
  const shared = new SharedExecutions();
  const reply = Promise.withResolvers<ModelReply>();
  const ask = vi.fn<() => Promise<ModelReply>>(() => reply.promise);
  const { way, bus } = await overWay();
  const other = await connected(replicas.connect());
  replicas.start({ shared, ask, bus });
  shared.put(executionOf('broken'));
  await isIn('broken', 'model_asked');
  way.cut();
  await isLost(bus);
  // It looks at once, and finds no driver.
  replicas.start({ shared, ask, bus: other });
  await systemClock.sleep(1_500);
  way.mend();
  await isBack(bus);
  await systemClock.sleep(4_000);
  expect(ask).toHaveBeenCalledTimes(1);
  reply.resolve(replyOf('the answer'));
  expect(await outcomeOf(shared)).toMatchObject({ phase: 'completed', output: 'the answer' });
  expect(await kindsOf('broken')).not.toContain('taken_over');
});

it.concurrent('AMB-197 a call that runs once is answered by its process where its conversation was taken without a hand-over', {
  timeout: 60_000,
}, async () => {
  const { shared, run, end, way, bus, takeOver } = await cutOffInCall('taken');
  await takeOver();
  way.mend();
  await isBack(bus);
  end('nine');
  expect(await outcomeOf(shared)).toMatchObject({ output: 'heard nine', tool_calls: 1 });
  expect(run).toHaveBeenCalledTimes(1);
});

it.concurrent('AMB-197 the answer of a call is kept where its driver was overtaken before it could write it down', {
  timeout: 60_000,
}, async () => {
  const { shared, run, end, way, takeOver } = await cutOffInCall('overtaken');
  end('ten');
  await takeOver();
  way.mend();
  expect(await outcomeOf(shared)).toMatchObject({ output: 'heard ten', tool_calls: 1 });
  expect(run).toHaveBeenCalledTimes(1);
});
