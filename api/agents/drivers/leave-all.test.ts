import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import type { Tool, ToolAnswer, ToolCaller } from '../../../lib/tools/tool.ts';
import { executionOf, replyOf, SharedExecutions, specOf, startReplica } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { startTestBus } from '../../../test/nats/test-bus.ts';
import { leavingTimesOf } from '../../leaving-times.ts';
import { createConversationFeed } from '../conversation/live.ts';

const replicas = useReplicas({ areConcurrent: true });

async function recordsOf(uid: string) {
  const feed = createConversationFeed(await replicas.connected(), systemClock);
  return (await feed.read('acme', uid, 0)).map(({ record }) => record);
}

const kindsOf = async (uid: string) => (await recordsOf(uid)).map(({ kind }) => kind);

const ended = (shared: SharedExecutions, count = 1) =>
  vi.waitFor(() => expect(shared.outcomes).toHaveLength(count), { timeout: 20_000, interval: 20 });

const begun = (what: { readonly mock: { readonly calls: readonly unknown[] } }, times = 1) =>
  vi.waitFor(() => expect(what.mock.calls).toHaveLength(times), { timeout: 20_000, interval: 20 });

type RunTool = (signal: AbortSignal, caller: ToolCaller) => Promise<ToolAnswer>;

const toolOf = (run: RunTool, idempotent: boolean, name = 'count'): Tool => ({
  name,
  description: 'counts',
  input_schema: { type: 'object' },
  skip_judge: false,
  idempotent,
  fleet_capable: false,
  run: { kind: 'api', run: (caller, _args, signal) => run(signal, caller) },
});

const answerOf = (content: string): ToolAnswer => ({ content, isError: false });
const hangs = (): Promise<never> => new Promise(() => undefined);
/** A model that calls the tool of its input, then says what the tool said. */
const callsOnce = async ({ messages }: ModelRequest): Promise<ModelReply> => {
  const { role, content } = messages.at(-1) ?? { role: '', content: '' };
  return role === 'tool' ? replyOf(`heard ${content}`) : replyOf('', [['count', {}]]);
};
const verdict = replyOf(JSON.stringify({ allow: true, reason: 'fine', score: 1, feedback: '' }));
const isJudge = ({ tools }: ModelRequest): boolean => tools.length === 0;

/** Gives up at once what can be made again; a call has a minute. */
const patient = { repeatableMs: 50, callsMs: 60_000 };
/** Gives everything up at once. */
const hasty = { repeatableMs: 50, callsMs: 100 };

type Ask = (request: ModelRequest) => Promise<ModelReply>;

/** Runs one execution on a replica that stops while the model or a tool hangs, and then on another one. */
async function moved(
  uid: string,
  { first, second, spec = specOf() }: { first: Ask; second: Ask; spec?: ReturnType<typeof specOf> },
) {
  const shared = new SharedExecutions();
  const asked = vi.fn<Ask>(first);
  const tools = [toolOf(async () => answerOf('seven'), true)];
  const leaving = replicas.start({ shared, ask: asked, tools, spec, leaving: patient });
  shared.put(executionOf(uid));
  return { shared, asked, leaving, next: () => replicas.start({ shared, ask: second, tools, spec }) };
}

it.concurrent('a stopping replica gives up a question to a model, and the next one asks it again', async () => {
  const { shared, asked, leaving, next } = await moved('model', {
    first: hangs,
    second: async () => replyOf('from the next'),
  });
  await begun(asked);
  await leaving.stop();
  expect(asked.mock.calls[0]?.[0].signal.aborted).toBe(true);
  next();
  await ended(shared);
  expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'from the next' });
  const kinds = await kindsOf('model');
  expect(kinds.filter((kind) => kind === 'model_asked')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'model_replied')).toHaveLength(1);
});

it.concurrent('LLM-19 the next replica asks the provider that the execution has, and a new execution has none', async () => {
  const shared = new SharedExecutions();
  const seen: (string | undefined)[] = [];
  const hanging = vi.fn<Ask>(async (request) => {
    seen.push(request.provider);
    return request.messages.at(-1)?.role === 'tool' ? hangs() : callsOnce(request);
  });
  const tools = [toolOf(async () => answerOf('seven'), true)];
  const leaving = replicas.start({ shared, ask: hanging, tools, leaving: patient });
  shared.put(executionOf('kept'));
  await begun(hanging, 2);
  await leaving.stop();
  const ask: Ask = async (request) => {
    seen.push(request.provider);
    return replyOf('done');
  };
  replicas.start({ shared, ask, tools });
  await ended(shared);
  shared.put(executionOf('new'));
  await ended(shared, 2);
  expect(seen).toEqual([undefined, 'p', 'p', undefined]);
});

it.concurrent('writes down nothing of an answer that a model breaks off when it is given up', async () => {
  const half: Ask = ({ signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(replyOf('half a sen'))));
  const { shared, asked, leaving, next } = await moved('half', { first: half, second: async () => replyOf('whole') });
  await begun(asked);
  await leaving.stop();
  next();
  await ended(shared);
  expect(shared.outcomes[0]).toMatchObject({ output: 'whole' });
  expect((await recordsOf('half')).filter((record) => record.kind === 'model_replied')).toHaveLength(1);
});

it.concurrent.each([
  ['tool calls', { tool_validation: { enabled: true } }, 'call_judged'],
  ['answers', { validation: { threshold: 0.5 } }, 'iteration_judged'],
] as const)(
  'gives up a question to the judge of %s, and the next one asks it again',
  async (_what, execution, kind) => {
    const { promise: isAsked, resolve: onAsked } = Promise.withResolvers<void>();
    const first: Ask = async (request) => {
      if (!isJudge(request)) return callsOnce(request);
      onAsked();
      return hangs();
    };
    const second: Ask = async (request) => (isJudge(request) ? verdict : callsOnce(request));
    const uid = `judge-${kind}`;
    const { shared, leaving, next } = await moved(uid, { first, second, spec: specOf({ execution }) });
    await isAsked;
    await leaving.stop();
    expect(await kindsOf(uid)).not.toContain(kind);
    next();
    await ended(shared);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'heard seven', tool_calls: 1 });
    expect((await kindsOf(uid)).filter((one) => one === kind)).toHaveLength(1);
  },
);

it.concurrent('AMB-199 gives up an idempotent tool, which the next one runs again as the same call', async () => {
  const shared = new SharedExecutions();
  const run = vi.fn<RunTool>(hangs);
  const leaving = replicas.start({ shared, ask: callsOnce, tools: [toolOf(run, true)], leaving: patient });
  shared.put(executionOf('again'));
  await begun(run);
  await leaving.stop();
  expect(run.mock.calls[0]?.[0].aborted).toBe(true);
  const again = vi.fn<RunTool>(async () => answerOf('eight'));
  replicas.start({ shared, ask: callsOnce, tools: [toolOf(again, true)] });
  await ended(shared);
  expect(shared.outcomes[0]).toMatchObject({ output: 'heard eight', tool_calls: 1 });
  for (const { mock } of [run, again]) expect(mock.calls.map(([, { callKey }]) => callKey)).toEqual(['call_1_0']);
  expect((await kindsOf('again')).filter((kind) => kind === 'tool_started')).toHaveLength(1);
});

it.concurrent('a tool of a replica whose identity the API server refuses is made again, and ends nothing', async () => {
  const shared = new SharedExecutions();
  const refused = new KubeError(401, { reason: 'Unauthorized' }, { verb: 'get', resource: 'agents' });
  const run = vi.fn<RunTool>(() => Promise.reject(refused));
  const leaving = replicas.start({ shared, ask: callsOnce, tools: [toolOf(run, true)], leaving: patient });
  shared.put(executionOf('stranger'));
  await begun(run, 3);
  await leaving.stop();
  replicas.start({ shared, ask: callsOnce, tools: [toolOf(async () => answerOf('eight'), true)] });
  await ended(shared);
  expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'heard eight', tool_calls: 1 });
});

const own = { verb: 'get', resource: 'agents' };

describe.concurrent.each<[title: string, trouble: KubeError]>([
  ['refuses its identity', new KubeError(401, { reason: 'Unauthorized' }, own)],
  ['does not know its rights yet', new KubeError(403, { reason: 'Forbidden', message: 'User "u" cannot get' }, own)],
  ['is a proxy without it', new KubeError(404, { message: '404 page not found' }, own)],
  ['is a proxy that refuses requests', new KubeError(400, { message: 'Bad Request' }, own)],
  ['takes another write first', new KubeError(409, { reason: 'Conflict' }, own)],
])('an API server that %s', (title, trouble) => {
  it('ends no conversation that is under way', async () => {
    const shared = new SharedExecutions();
    const ask = vi.fn<Ask>().mockRejectedValueOnce(trouble).mockResolvedValue(replyOf('done'));
    replicas.start({ shared, ask });
    shared.put(executionOf(`under-way-${title.replaceAll(' ', '-')}`));
    await ended(shared);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'done' });
  });
});

it.concurrent('a definition that a proxy says is not there is read again, and its execution is not lost', async () => {
  const shared = new SharedExecutions();
  const trouble = new KubeError(404, { message: '404 page not found' }, own);
  const definitionOf = vi
    .fn<() => Promise<{ spec: ReturnType<typeof specOf>; security: object }>>()
    .mockRejectedValueOnce(trouble)
    .mockRejectedValueOnce(trouble)
    .mockResolvedValue({ spec: specOf(), security: {} });
  replicas.start({ shared, ask: async () => replyOf('done'), definitionOf });
  shared.put(executionOf('opened'));
  await ended(shared);
  expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'done' });
});

it.concurrent('lets a call that cannot be made again run to its end, and writes its answer down', async () => {
  const shared = new SharedExecutions();
  const answer = Promise.withResolvers<ToolAnswer>();
  const run = vi.fn<RunTool>(() => answer.promise);
  const model = vi.fn<Ask>((request) => (request.messages.at(-1)?.content === 'hang' ? hangs() : callsOnce(request)));
  const leaving = replicas.start({ shared, ask: model, tools: [toolOf(run, false)], leaving: patient });
  shared.put(executionOf('runs-on'));
  await begun(run);
  const other = executionOf('hanging');
  shared.put({ ...other, spec: { ...other.spec, input: 'hang' } });
  await begun(model, 2);
  const stopped = leaving.stop();
  // Calls that can be made again are given up by then.
  await vi.waitFor(() => expect(model.mock.calls[1]?.[0].signal.aborted).toBe(true), { timeout: 20_000 });
  expect(run.mock.calls[0]?.[0].aborted).toBe(false);
  answer.resolve(answerOf('nine'));
  await stopped;
  expect((await recordsOf('runs-on')).at(-1)).toMatchObject({ kind: 'tool_ended', content: 'nine', ran: true });
  replicas.start({ shared, ask: async () => replyOf('done'), tools: [toolOf(run, false)] });
  await ended(shared, 2);
  expect(run).toHaveBeenCalledTimes(1);
});

it.concurrent('ends at the end of its grace whatever a tool does, and the next one says that the outcome is unknown', async () => {
  const shared = new SharedExecutions();
  const bus = replicas.connect();
  const run = vi.fn<RunTool>(hangs);
  const leaving = replicas.start({ bus, shared, ask: callsOnce, tools: [toolOf(run, false)], leaving: hasty });
  shared.put(executionOf('over'));
  await begun(run);
  await leaving.stop();
  // As the end of its process does.
  await bus.close(0);
  expect(run.mock.calls[0]?.[0].aborted).toBe(true);
  replicas.start({ shared, ask: callsOnce, tools: [toolOf(run, false)] });
  await ended(shared);
  expect(run).toHaveBeenCalledTimes(1);
  expect(shared.outcomes[0]).toMatchObject({ output: expect.stringContaining('OutcomeUnknown') as string });
});

it.concurrent('ends at the end of its grace while the bus takes no record', async () => {
  const shared = new SharedExecutions();
  const bus = replicas.connect();
  const answer = Promise.withResolvers<ToolAnswer>();
  const run = vi.fn<RunTool>(() => answer.promise);
  const leaving = replicas.start({ bus, shared, ask: callsOnce, tools: [toolOf(run, false)], leaving: hasty });
  shared.put(executionOf('no-bus'));
  await begun(run);
  await bus.close(0);
  answer.resolve(answerOf('ten'));
  await leaving.stop();
  replicas.start({ shared, ask: callsOnce, tools: [toolOf(run, false)] });
  await ended(shared);
  expect(run).toHaveBeenCalledTimes(1);
});

it.concurrent('answers a pod with 503 and a closed connection, so that its next request finds another replica', async () => {
  const shared = new SharedExecutions();
  const leaving = replicas.start({ shared, ask: hangs });
  await leaving.stop();
  const asked = leaving.drivers.open(executionOf('pod'), new AbortController().signal);
  await expect(asked).rejects.toMatchObject({ options: { code: 'unavailable', headers: { Connection: 'close' } } });
});

it.concurrent('gives calls the grace of the process but for its last writes, and no model more than ten seconds', () => {
  expect(leavingTimesOf(320_000)).toEqual({ repeatableMs: 10_000, callsMs: 300_000 });
  expect(leavingTimesOf(20_000)).toEqual({ repeatableMs: 6_000, callsMs: 6_000 });
});

/** One execution on a replica that is about to stop, with a bus of its own that is killed by what `away` wraps. */
async function withoutBus(uid: string, parts: (away: <T>(value: T) => Promise<T>) => { ask: Ask; run: RunTool }) {
  const own = await startTestBus();
  const shared = new SharedExecutions();
  const killed = vi.fn<() => void>();
  const away = async <T>(value: T): Promise<T> => {
    await own.server.kill();
    killed();
    return value;
  };
  const { ask, run } = parts(away);
  const tools = [toolOf(run, false)];
  const leaving = startReplica({ bus: own.connect(), shared, ask, tools, leaving: { ...patient, callsMs: 300_000 } });
  shared.put(executionOf(uid));
  await begun(killed);
  const next = (second: Ask): void => void replicas.start({ bus: own.connect(), shared, ask: second, tools });
  return { own, shared, leaving, next };
}

it.concurrent('a stopping replica waits for no event bus that stays away, to store the answer of a model', async () => {
  const run = async (): Promise<ToolAnswer> => answerOf('seven');
  const { own, shared, leaving, next } = await withoutBus('away', (away) => ({
    ask: async () => away(replyOf('done')),
    run,
  }));
  await leaving.stop();
  expect(shared.outcomes).toEqual([]);
  await own.server.start();
  next(async () => replyOf('from the next'));
  await ended(shared);
  expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'from the next' });
  await own.stop();
});

it.concurrent('a stopping replica stores the end of a tool call when the event bus is back within a minute', async () => {
  const { own, shared, leaving, next } = await withoutBus('back', (away) => ({
    ask: callsOnce,
    run: () => away(answerOf('seven')),
  }));
  const stopped = leaving.stop();
  // Longer than it tries to store what the next replica can make again.
  await systemClock.sleep(7_000);
  await own.server.start();
  await stopped;
  next(callsOnce);
  await ended(shared);
  expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'heard seven' });
  await own.stop();
});
