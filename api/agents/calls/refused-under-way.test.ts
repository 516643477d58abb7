import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createSealSessions } from '../../../lib/envelope/index.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import type { DispatchResult, Tool } from '../../../lib/tools/tool.ts';
import { executionOf, podTool, replyOf, SharedExecutions, startReplica } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { sealSession } from '../../../test/support/seal-session.ts';
import { createConversationFeed } from '../conversation/live.ts';

const replicas = useReplicas();
const never = new AbortController().signal;
const result: DispatchResult = { exit_code: 0, stdout: 'deployed', stderr: '', duration_ms: 1, truncated: false };

async function recordsOf(uid: string) {
  const feed = createConversationFeed(replicas.connect(), systemClock);
  return (await feed.read('acme', uid, 0)).map(({ record }) => record);
}

const endOf = (uid: string) =>
  vi.waitFor(
    async () => {
      const ended = (await recordsOf(uid)).find(({ kind }) => kind === 'tool_ended');
      expect(ended).toBeDefined();
      return ended;
    },
    { timeout: 20_000 },
  );

/** Calls the tool, then says what it answered once `read` resolves. */
const callerOf =
  (name: string, read: Promise<void> = Promise.resolve()) =>
  async ({ messages }: ModelRequest): Promise<ModelReply> => {
    if (!messages.some(({ role }) => role === 'assistant')) return replyOf('', [[name, {}]]);
    await read;
    return replyOf('end');
  };

it('AMB-038 a command that a pod has ends as run where the next driver may not call the tool, and its result is taken', async () => {
  const shared = new SharedExecutions();
  const read = Promise.withResolvers<void>();
  const ask = callerOf('fs.write', read.promise);
  const first = replicas.start({ shared, ask, tools: [podTool(false)] });
  shared.put(executionOf('with-pod'));
  const open = await first.drivers.open(shared.get('run-with-pod'), never);
  const offered = await open?.channel.ask('pod-1', never);
  await first.stop();
  // The security context allows the tool no more, or its server is away.
  const second = replicas.startFast({ shared, ask, tools: [] });
  const again = await second.drivers.open(shared.get('run-with-pod'), never);
  expect(await endOf('with-pod')).toMatchObject({
    ran: true,
    is_error: true,
    content: expect.stringContaining('OutcomeUnknown') as string,
    dispatch_id: offered?.dispatch_id,
  });
  await expect(again?.channel.report(offered?.dispatch_id ?? '', result, never)).resolves.toBeUndefined();
  read.resolve();
});

it('AMB-038 a signed command that a pod has ends so too, and one that no pod has is refused', async () => {
  const shared = new SharedExecutions();
  const read = Promise.withResolvers<void>();
  const ask = async (): Promise<ModelReply> => {
    await read.promise;
    return replyOf('end');
  };
  const bus = replicas.connect();
  while (bus.problem() !== undefined) await systemClock.sleep(10);
  await createSealSessions(bus).create({ ...sealSession(), execution_id: 'signed' });
  const first = startReplica({ bus, shared, ask, tools: [podTool(false)] });
  shared.put(executionOf('signed'));
  const open = await first.drivers.open(shared.get('run-signed'), never);
  for (const call_id of ['given', 'waits']) await open?.signed.take({ call_id, tool: 'fs.write', arguments: {} });
  const offered = await open?.channel.ask('pod-1', never);
  // The process is gone: its connection is, and nothing of it writes any more.
  await bus.close(0);
  const second = replicas.startFast({ shared, ask, tools: [] });
  const again = await second.drivers.open(shared.get('run-signed'), never);
  const ends = await vi.waitFor(
    async () => {
      const ended = (await recordsOf('signed')).filter(({ kind }) => kind === 'signed_ended');
      expect(ended).toHaveLength(2);
      return ended;
    },
    { timeout: 20_000 },
  );
  const content = (text: string) => expect.stringContaining(text) as string;
  expect(ends).toContainEqual(
    expect.objectContaining({
      call_id: 'given',
      content: content('OutcomeUnknown'),
      dispatch_id: offered?.dispatch_id,
    }),
  );
  expect(ends).toContainEqual(expect.objectContaining({ call_id: 'waits', content: content('ToolNotAllowed') }));
  await expect(again?.channel.report(offered?.dispatch_id ?? '', result, never)).resolves.toBeUndefined();
  read.resolve();
});

it('a call of a process that still makes it ends with its answer where the next driver may not call the tool', async () => {
  const shared = new SharedExecutions();
  const answer = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const slow: Tool = {
    ...podTool(false),
    name: 'deploy',
    run: {
      kind: 'api',
      run: async () => {
        began.resolve();
        await answer.promise;
        return { content: 'deployed', isError: false };
      },
    },
  };
  const first = replicas.start({ shared, ask: callerOf('deploy'), tools: [slow] });
  shared.put(executionOf('in-process'));
  await began.promise;
  const second = replicas.start({ shared, ask: callerOf('deploy'), tools: [] });
  const moved = second.drivers.open(shared.get('run-in-process'), never);
  await vi.waitFor(
    async () => expect((await recordsOf('in-process')).map(({ kind }) => kind)).toContain('taken_over'),
    { timeout: 20_000 },
  );
  answer.resolve();
  expect(await endOf('in-process')).toMatchObject({ ran: true, is_error: false, content: 'deployed' });
  await moved;
  await first.stop();
});

it('a call that has not begun is refused as before', async () => {
  const shared = new SharedExecutions();
  replicas.start({ shared, ask: callerOf('fs.write'), tools: [] });
  shared.put(executionOf('not-begun'));
  expect(await endOf('not-begun')).toMatchObject({
    ran: false,
    content: expect.stringContaining('ToolNotAllowed') as string,
  });
});
