import { describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { type CallCounter, createCallCounter } from '../../../lib/envelope/index.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import type { ModelRequest } from '../../../lib/models/models.ts';
import type { Tool, ToolAnswer } from '../../../lib/tools/tool.ts';
import { executionOf, podTool, replyOf, SharedExecutions, specOf, startReplica } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { fasterClock } from '../../../test/support/faster-clock.ts';
import { createConversationFeed } from '../conversation/live.ts';
import { type JudgeAgents, JudgeLater } from '../verdicts/judge-agents.ts';

const replicas = useReplicas();

async function kindsOf(uid: string): Promise<string[]> {
  const feed = createConversationFeed(replicas.connect(), systemClock);
  return (await feed.read('acme', uid, 0)).map(({ record }) => record.kind);
}

/** Three quarters of the whole pause, by the `random` of these replicas. No other sleep of a driver lasts as long. */
const pauses = new Set([1_500, 3_000, 6_000, 12_000, 24_000, 45_000]);

/** Each sleep lasts a moment, and is written down with the time that it was to last. */
function shortSleeps() {
  const slept: number[] = [];
  const sleep: typeof systemClock.sleep = (ms, signal) => {
    slept.push(ms);
    return systemClock.sleep(Math.min(ms, 20), signal);
  };
  return { clock: { ...systemClock, sleep }, paused: () => slept.filter((ms) => pauses.has(ms)) };
}

/** Pauses end by their signal alone. */
const endlessPauses = (): Clock => ({
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(pauses.has(ms) ? 3_600_000 : ms, signal),
});

const spec = specOf({ execution: { validation: { threshold: 0.5, agent: 'judge' } } });
const refusal = new KubeError(
  403,
  { reason: 'Forbidden', message: 'User "u" cannot' },
  { verb: 'create', resource: 'agentexecutions' },
);

/** An API server that refuses so many requests for a judge, then gives the verdict. */
function judgesAfter(refusals: number) {
  const result = vi.fn<JudgeAgents['result']>(async () => {
    if (result.mock.calls.length <= refusals) throw new JudgeLater('refused', { cause: refusal });
    return { judge: 'j', output: '{"score":1,"feedback":""}', input_tokens: 1, output_tokens: 1 };
  });
  return { idle: async () => undefined, result };
}

const outcomes = (shared: SharedExecutions) =>
  vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000, interval: 20 });

describe('a conversation that Kubernetes refuses for long', () => {
  it('is driven anew after pauses that double up to a minute, and is written down as taken over once', async () => {
    const shared = new SharedExecutions();
    const { clock, paused } = shortSleeps();
    const judges = judgesAfter(8);
    replicas.start({ shared, spec, clock, judges, ask: async () => replyOf('the answer') });
    shared.put(executionOf('refused'));
    await outcomes(shared);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'the answer', score: 1 });
    expect(judges.result).toHaveBeenCalledTimes(9);
    const kinds = await kindsOf('refused');
    expect(kinds.filter((kind) => kind === 'taken_over')).toHaveLength(1);
    expect(paused()).toEqual([1_500, 3_000, 6_000, 12_000, 24_000, 45_000, 45_000, 45_000]);
  });

  it('is driven anew after the same pauses where its outcome is refused, and so is the failure in its place', async () => {
    const shared = new SharedExecutions();
    shared.outcomesRefused = 6;
    const { clock, paused } = shortSleeps();
    replicas.start({ shared, clock, ask: async () => replyOf('the answer') });
    shared.put(executionOf('unstored'));
    await outcomes(shared);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'the answer' });
    expect(paused()).toEqual([1_500, 3_000, 6_000]);
  });

  it('is written down as taken over once by each of the replicas that try in turn', async () => {
    const shared = new SharedExecutions();
    const judges = judgesAfter(8);
    const ask = async () => replyOf('the answer');
    for (const { clock } of [shortSleeps(), shortSleeps()]) replicas.start({ shared, spec, clock, judges, ask });
    shared.put(executionOf('in-turn'));
    await outcomes(shared);
    expect((await kindsOf('in-turn')).filter((kind) => kind === 'taken_over').length).toBeLessThanOrEqual(2);
  });

  it('is paused anew from the shortest pause on once it has moved', async () => {
    const shared = new SharedExecutions();
    const { clock, paused } = shortSleeps();
    let asked = 0;
    const judges = judgesAfter(0);
    judges.result.mockImplementation(async ({ iteration }) => {
      asked += 1;
      if (asked % 3 !== 0) throw new JudgeLater('refused', { cause: refusal });
      const score = iteration === 1 ? 0 : 1;
      return {
        judge: `j-${iteration}`,
        output: JSON.stringify({ score, feedback: 'again' }),
        input_tokens: 1,
        output_tokens: 1,
      };
    });
    replicas.start({ shared, spec, clock, judges, ask: async () => replyOf('the answer') });
    shared.put(executionOf('moved'));
    await outcomes(shared);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', iterations: 2 });
    expect(paused()).toEqual([1_500, 3_000, 1_500, 3_000]);
  });

  it('comes to a replica that pauses where its pod asks there, and another replica drives it by then', async () => {
    const shared = new SharedExecutions();
    const judges = judgesAfter(1);
    judges.result.mockImplementationOnce(() => Promise.reject(new JudgeLater('refused', { cause: refusal })));
    judges.result.mockResolvedValueOnce({
      judge: 'j',
      output: '{"score":0,"feedback":"again"}',
      input_tokens: 1,
      output_tokens: 1,
    });
    const tools = [podTool(true)];
    const answers = [replyOf('the answer'), replyOf('', [['fs.write', {}]])];
    const ask = async () => answers.shift() ?? replyOf('the end');
    const paused = replicas.start({ shared, spec, judges, ask, tools, clock: endlessPauses() });
    const execution = executionOf('asked-here');
    shared.put(execution);
    await vi.waitFor(() => expect(judges.result).toHaveBeenCalledTimes(1), { timeout: 10_000 });
    replicas.startFast({ shared, spec, judges, ask, tools });
    const startedThere = async () => expect(await kindsOf('asked-here')).toContain('tool_started');
    await vi.waitFor(startedThere, { timeout: 20_000, interval: 100 });
    const here = await paused.drivers.open(execution, AbortSignal.timeout(20_000));
    expect(await here?.channel.ask('pod-1', AbortSignal.timeout(20_000))).toMatchObject({ plan: { command: 'write' } });
  });

  it('is not tried before the end of its pause where its pod asks the replica that holds it', async () => {
    const shared = new SharedExecutions();
    const judges = judgesAfter(Number.POSITIVE_INFINITY);
    const ask = async () => replyOf('the answer');
    const execution = executionOf('held');
    const triedTimes = (times: number) =>
      vi.waitFor(() => expect(judges.result).toHaveBeenCalledTimes(times), { timeout: 20_000 });
    const endless = (endlessMs: number): Clock => ({
      ...systemClock,
      sleep: (ms, signal) => (ms === endlessMs ? systemClock.sleep(3_600_000, signal) : fasterClock.sleep(ms, signal)),
    });
    // Its second try is written down as taken over, and the pause behind that has no end.
    replicas.start({ shared, spec, judges, ask, clock: endless(3_000) });
    shared.put(execution);
    await triedTimes(2);
    const second = replicas.start({ shared, spec, judges, ask, clock: endless(1_500) });
    await triedTimes(3);
    await systemClock.sleep(500);
    expect(await second.drivers.open(execution, AbortSignal.timeout(3_000))).toBeUndefined();
    expect(judges.result).toHaveBeenCalledTimes(3);
  });

  it('is let go at once where its replica ends in a pause', async () => {
    const shared = new SharedExecutions();
    const judges = judgesAfter(Number.POSITIVE_INFINITY);
    const ask = async () => replyOf('the answer');
    const replica = replicas.start({ shared, spec, judges, ask, clock: endlessPauses() });
    const execution = executionOf('ends');
    shared.put(execution);
    await vi.waitFor(() => expect(judges.result).toHaveBeenCalledTimes(1), { timeout: 10_000 });
    await replica.stop();
    expect(judges.result).toHaveBeenCalledTimes(1);
    expect(await replica.drivers.open(execution, AbortSignal.abort())).toBeUndefined();
  });
});

it('AMB-195 a call is counted once where its replica dies behind the count, and another one makes it', async () => {
  const shared = new SharedExecutions();
  const bus = replicas.connect();
  const counter = createCallCounter(bus);
  const take: CallCounter['take'] = async (...call) => {
    const isTaken = await counter.take(...call);
    // The process is gone: its connection is, and nothing of it writes any more.
    await bus.close(0);
    return isTaken;
  };
  const ask = async ({ messages }: ModelRequest) =>
    messages.some(({ role }) => role === 'tool') ? replyOf('ok') : replyOf('', [['count', {}]]);
  const run = vi.fn<() => Promise<ToolAnswer>>(async () => ({ content: '7', isError: false }));
  const tools: Tool[] = [{ ...podTool(true), name: 'count', run: { kind: 'api', run } }];
  const options = { shared, ask, tools, security: { max_calls: 1 } };
  startReplica({ ...options, bus, calls: { take } });
  shared.put(executionOf('counted'));
  await vi.waitFor(async () => expect((await kindsOf('counted')).at(-1)).toBe('model_replied'), { timeout: 10_000 });
  await vi.waitFor(() => expect(bus.problem()).toBeDefined(), { timeout: 10_000 });
  replicas.startFast(options);
  await outcomes(shared);
  expect(run).toHaveBeenCalledTimes(1);
  expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'ok', tool_calls: 1 });
});
