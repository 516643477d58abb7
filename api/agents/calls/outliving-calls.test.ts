import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { conversationLogs } from '../../../lib/conversation/record.ts';
import { AppError } from '../../../lib/errors.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import type { Tool, ToolAnswer } from '../../../lib/tools/tool.ts';
import { executionOf, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { createConversationFeed } from '../conversation/live.ts';
import { addressOf } from '../drivers/driver-address.ts';
import { roomLimits } from '../drivers/room.ts';

const replicas = useReplicas({ areConcurrent: true });
const never = new AbortController().signal;
const patient = { repeatableMs: 50, callsMs: 60_000 };

type RunTool = (signal: AbortSignal) => Promise<ToolAnswer>;

const toolOf = (run: RunTool): Tool => ({
  name: 'count',
  description: 'counts',
  input_schema: { type: 'object' },
  skip_judge: false,
  idempotent: false,
  fleet_capable: false,
  run: { kind: 'api', run: (_caller, _args, signal) => run(signal) },
});

/** A model that calls the tool once, then says what the tool said. */
const ask = async ({ messages }: ModelRequest): Promise<ModelReply> => {
  const { role, content } = messages.at(-1) ?? { role: '', content: '' };
  return role === 'tool' ? replyOf(`heard ${content}`) : replyOf('', [['count', {}]]);
};

/** An execution whose tool runs at the first replica until the test says how it ends. */
async function world(uid: string, lifeMs = 3_600_000) {
  const shared = new SharedExecutions();
  const { promise, resolve, reject } = Promise.withResolvers<ToolAnswer>();
  const run = vi.fn<RunTool>((signal) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    return promise;
  });
  const start = (options: Partial<Parameters<typeof replicas.start>[0]> = {}) =>
    replicas.start({ shared, ask, tools: [toolOf(run)], leaving: patient, ...options });
  const bus = await replicas.connected();
  const first = start({ bus });
  const execution = executionOf(uid, { deadline: new Date(Date.now() + lifeMs).toISOString() });
  shared.put(execution);
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), { timeout: 20_000 });
  const end = (content: string): void => resolve({ content, isError: false });
  return { shared, execution, run, start, first, bus, end, fail: reject };
}

const outcomeOf = (shared: SharedExecutions) =>
  vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000 }).then(() => shared.outcomes[0]);

async function recordsOf(uid: string) {
  const feed = createConversationFeed(await replicas.connected(), systemClock);
  return (await feed.read('acme', uid, 0)).map(({ record }) => record);
}

const isTakenOver = (uid: string, times = 1) =>
  vi.waitFor(
    async () => expect((await recordsOf(uid)).filter(({ kind }) => kind === 'taken_over')).toHaveLength(times),
    { timeout: 20_000 },
  );

it.concurrent('AMB-199 a call continues where its conversation moves, and the next driver writes its answer down', async () => {
  const { shared, execution, run, start, end } = await world('moves');
  const second = start();
  await second.drivers.open(execution, never);
  await isTakenOver('moves');
  expect(run.mock.calls[0]?.[0].aborted).toBe(false);
  end('nine');
  expect(await outcomeOf(shared)).toMatchObject({ output: 'heard nine', tool_calls: 1 });
  expect(run).toHaveBeenCalledTimes(1);
  const ends = (await recordsOf('moves')).filter(({ kind }) => kind === 'tool_ended');
  expect(ends).toMatchObject([{ content: 'nine', ran: true, is_error: false }]);
});

it.concurrent('takes over from a replica that stops in the midst of a call, though no pod asks', async () => {
  const { shared, run, start, first, end } = await world('scanned');
  start();
  const stopped = first.stop();
  await isTakenOver('scanned');
  end('ten');
  expect(await outcomeOf(shared)).toMatchObject({ output: 'heard ten' });
  await stopped;
  expect(run).toHaveBeenCalledTimes(1);
});

it.concurrent('a conversation that comes back while its call continues gets the answer in its own process', async () => {
  const { shared, execution, run, start, first, end } = await world('back');
  const second = start();
  await second.drivers.open(execution, never);
  await first.drivers.open(execution, never);
  await isTakenOver('back', 2);
  end('eleven');
  expect(await outcomeOf(shared)).toMatchObject({ output: 'heard eleven' });
  expect(run).toHaveBeenCalledTimes(1);
});

it.concurrent('an answer waits for a third driver where the second one dies', async () => {
  const { shared, execution, run, start, end } = await world('third');
  const bus = replicas.connect();
  const second = start({ bus });
  await second.drivers.open(execution, never);
  await isTakenOver('third');
  await bus.close(0);
  end('twelve');
  start();
  expect(await outcomeOf(shared)).toMatchObject({ output: 'heard twelve' });
  expect(run).toHaveBeenCalledTimes(1);
});

it.concurrent.each([
  [
    'an error of the tool is its answer',
    new AppError('not_found', 'no such thing', { reason: 'NotFound' }),
    'NotFound: no such thing',
  ],
  ['anything else that breaks the call leaves its outcome unknown', new TypeError('a fault'), 'OutcomeUnknown'],
])('%s, also at the next driver', async (_what, error, want) => {
  const uid = `fails-${want.slice(0, 3).toLowerCase()}`;
  const { shared, execution, start, fail } = await world(uid);
  await start().drivers.open(execution, never);
  await isTakenOver(uid);
  fail(error);
  expect(await outcomeOf(shared)).toMatchObject({ output: expect.stringContaining(`heard ${want}`) as string });
});

it.concurrent('the outcome is unknown where the process of the call is gone', async () => {
  const { shared, execution, run, start, bus } = await world('gone');
  await start().drivers.open(execution, never);
  await isTakenOver('gone');
  await bus.close(0);
  expect(await outcomeOf(shared)).toMatchObject({ output: expect.stringContaining('heard OutcomeUnknown') as string });
  expect(run).toHaveBeenCalledTimes(1);
});

it.concurrent.each(['cancelled', 'out of time'] as const)(
  'a call that continues without its driver ends where its execution is %s',
  async (how) => {
    const uid = how.replaceAll(' ', '-');
    const { shared, execution, run, start } = await world(uid, how === 'cancelled' ? undefined : 6_000);
    await start().drivers.open(execution, never);
    await isTakenOver(uid);
    if (how === 'cancelled')
      shared.put({ ...execution, spec: { ...execution.spec, cancel: { at: '2026-01-01T00:00:00Z' } } as never });
    await vi.waitFor(() => expect(run.mock.calls[0]?.[0].aborted).toBe(true), { timeout: 20_000 });
  },
);

/** As another replica that wants the conversation. */
const handOver = (uid: string) => replicas.connect().request(addressOf(uid), 'hand_over', { timeoutMs: 20_000 });

it.concurrent('two calls of one execution that continue without their driver both end with it', {
  timeout: 60_000,
}, async () => {
  const uid = 'two-calls';
  const signals: AbortSignal[] = [];
  const run: RunTool = (signal) => {
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  };
  const shared = new SharedExecutions();
  const execution = executionOf(uid);
  const script = async () => replyOf('', [['count', {}]]);
  const { drivers } = replicas.start({ shared, ask: script, tools: [toolOf(run)], leaving: patient });
  shared.put(execution);
  for (const begun of [1, 2]) {
    await vi.waitFor(() => expect(signals).toHaveLength(begun), { timeout: 20_000 });
    await handOver(uid);
    if (begun === 2) break;
    // As by a replica for which the outcome is unknown.
    const [started] = (await recordsOf(uid)).filter((record) => record.kind === 'tool_started');
    const { call_id = '', tool = '' } = started ?? {};
    const end = {
      kind: 'tool_ended',
      call_id,
      tool,
      content: '',
      is_error: true,
      ran: true,
      at: '2026-01-01T00:00:00Z',
    };
    await replicas
      .connect()
      .logs(conversationLogs)
      .append({ tenant: 'acme', key: uid, body: JSON.stringify(end) });
    await drivers.open(execution, never);
  }
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  shared.put({ ...execution, spec: { ...execution.spec, cancel: { at: '2026-01-01T00:00:00Z' } } as never });
  await vi.waitFor(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]), { timeout: 5_000 });
});

it.concurrent('a call that does not heed the end of its execution gives its place in the pool back', {
  timeout: 60_000,
}, async () => {
  const shared = new SharedExecutions();
  const run = vi.fn<RunTool>(() => new Promise(() => undefined));
  const script = async () => (run.mock.calls.length === 0 ? replyOf('', [['count', {}]]) : replyOf('the answer'));
  const poolBytes = roomLimits.unreadBytes;
  replicas.start({ shared, ask: script, tools: [toolOf(run)], leaving: patient, poolBytes });
  const execution = executionOf('deaf');
  shared.put(execution);
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), { timeout: 20_000 });
  await handOver('deaf');
  shared.put({ ...execution, spec: { ...execution.spec, cancel: { at: '2026-01-01T00:00:00Z' } } as never });
  shared.put(executionOf('next'));
  expect(await outcomeOf(shared)).toMatchObject({ output: 'the answer' });
});
