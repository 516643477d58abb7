import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { ConversationRecord } from '../../../lib/conversation/record.ts';
import { createSealSessions } from '../../../lib/envelope/index.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import type { Tool, ToolAnswer } from '../../../lib/tools/tool.ts';
import { executionOf, podTool, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { sealSession } from '../../../test/support/seal-session.ts';
import { recordsBehind } from '../conversation/feed.ts';
import { createConversationFeed } from '../conversation/live.ts';

const replicas = useReplicas();
const within = (ms: number): AbortSignal => AbortSignal.timeout(ms);

/** 300 KB that can be read as JSON, and cannot be written again. */
const deep = `{"a":${'['.repeat(150_000)}${']'.repeat(150_000)}}`;
const resultOf = (stdout: string) => ({ exit_code: 0, stdout, stderr: '', duration_ms: 1, truncated: false });
const broken = (): never => {
  throw new TypeError('x is undefined');
};

async function recordsOf(uid: string) {
  const feed = createConversationFeed(replicas.connect(), systemClock);
  const records: ConversationRecord[] = [];
  for await (const { record } of recordsBehind(feed, 'acme', uid, 0)) records.push(record);
  return records;
}

const apiTool = (idempotent: boolean, run: () => Promise<ToolAnswer>): Tool => ({
  ...podTool(idempotent),
  name: 'web.page',
  run: { kind: 'api', run },
});

const callOnce = async ({ messages }: ModelRequest): Promise<ModelReply> =>
  messages.some(({ role }) => role === 'tool') ? replyOf('done') : replyOf('', [['web.page', {}]]);

const answers = {
  'is nested deeply': { give: async () => ({ content: deep, isError: false }), said: /^\{"a":\[.*\[cut: \d+ more/s },
  'is an error of ours': { give: async () => broken(), said: /^OutcomeUnknown: .*may have run/ },
  'has no text': { give: async () => ({ isError: false }) as ToolAnswer, said: /^OutcomeUnknown: .*may have run/ },
} as const;

it.each(
  Object.keys(answers).flatMap((what) => [true, false].map((idempotent) => [what as keyof typeof answers, idempotent])),
)(
  'a tool whose answer %s is called once, and the model reads that (idempotent: %s)',
  async (what, idempotent) => {
    const { give, said } = answers[what as keyof typeof answers];
    const shared = new SharedExecutions();
    const run = vi.fn<() => Promise<ToolAnswer>>(give);
    const uid = `${String(what).replaceAll(' ', '-')}-${idempotent}`;
    replicas.startFast({ shared, ask: callOnce, tools: [apiTool(idempotent === true, run)] });
    shared.put(executionOf(uid));
    await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ output: 'done' }]), { timeout: 20_000 });
    expect(run).toHaveBeenCalledOnce();
    expect((await recordsOf(uid)).filter(({ kind }) => kind === 'tool_ended')).toMatchObject([
      { ran: true, content: expect.stringMatching(said) as string },
    ]);
  },
  40_000,
);

const podAnswers = [
  ['is nested deeply', podTool(false), deep],
  ['cannot be read', { ...podTool(false), run: { ...podTool(false).run, answer: broken } as Tool['run'] }, 'fine'],
] as const;

it.each(podAnswers)(
  'AMB-038 the result of a command that %s is taken from the pod',
  async (what, tool, stdout) => {
    const shared = new SharedExecutions();
    const uid = `pod-${what.replaceAll(' ', '-')}`;
    const ask = async ({ messages }: ModelRequest): Promise<ModelReply> =>
      messages.some(({ role }) => role === 'tool') ? replyOf('done') : replyOf('', [[tool.name, {}]]);
    const { drivers } = replicas.start({ shared, ask, tools: [tool] });
    shared.put(executionOf(uid));
    const open = await drivers.open(shared.get(`run-${uid}`), within(20_000));
    const offered = await open?.channel.ask('pod-1', within(10_000));
    await open?.channel.report(offered?.dispatch_id ?? '', resultOf(stdout), within(10_000));
    expect((await recordsOf(uid)).find(({ kind }) => kind === 'tool_ended')).toMatchObject({
      dispatch_id: offered?.dispatch_id,
      result_hash: expect.any(String) as string,
    });
  },
  60_000,
);

it.each(podAnswers)(
  'AMB-038 signed calls whose result %s end, and others run behind them',
  async (what, tool, stdout) => {
    const shared = new SharedExecutions();
    const uid = `signed-${what.replaceAll(' ', '-')}`;
    const { drivers } = replicas.start({ shared, ask: () => new Promise<never>(() => undefined), tools: [tool] });
    const session = { ...sealSession(), execution_id: uid };
    await vi.waitFor(() => createSealSessions(replicas.connect()).create(session), { timeout: 20_000 });
    shared.put(executionOf(uid));
    const open = await drivers.open(shared.get(`run-${uid}`), within(20_000));
    for (const call_id of ['c1', 'c2', 'c3', 'c4', 'c5']) {
      await open?.signed.take({ call_id, tool: tool.name, arguments: {} });
      const offered = await open?.channel.ask('pod-1', within(10_000));
      await open?.channel.report(offered?.dispatch_id ?? '', resultOf(stdout), within(10_000));
    }
    const ended = (await recordsOf(uid)).filter(({ kind }) => kind === 'signed_ended');
    expect(ended.map((record) => 'result_hash' in record)).toEqual([true, true, true, true, true]);
  },
  60_000,
);
