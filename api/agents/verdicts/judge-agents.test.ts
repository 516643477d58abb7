import { describe, expect, it, vi } from 'vitest';
import { annotations, labels } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution, AgentResult } from '../../../crds/schema/agent-execution.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import { executionOf, replyOf, SharedExecutions, specOf } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { anAgent } from '../../../test/builders/agent-builder.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { familyOf } from '../../cluster/lineages.ts';
import { createJudgeAgents } from './judge-agents.ts';
import { roomLimits } from '../drivers/room.ts';

const replicas = useReplicas();
const refused = (status: number, reason: string, message = reason): KubeError =>
  new KubeError(status, { reason, message }, { verb: 'get', resource: 'agentexecutions' });
const failedTest = new KubeError(
  422,
  { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  { verb: 'patch', resource: 'agentexecutions' },
);
const accuracy = anAgent('accuracy', {}, { namespace: 'acme' });

/**
 * The port of one replica on the objects that all share. Each create fails with the next of `troubles` first, each patch with the
 * next of `patchTroubles`.
 */
function judgesOn(shared: SharedExecutions, troubles: Error[] = [], patchTroubles: Error[] = []) {
  const all = () => [...shared.objects.values()];
  const byName = (name: string) => all().find(({ metadata }) => metadata.name === name);
  const cache = {
    get: (key: string) => byName(key.replace('acme/', '')),
    getByUid: (uid: string) => shared.objects.get(uid),
    byIndex: (_index: string, root: string) => all().filter((one) => familyOf(one).includes(root)),
    remember: () => undefined,
  };
  const kube = {
    async create(_: unknown, object: AgentExecution) {
      const trouble = troubles.shift();
      if (trouble !== undefined) throw trouble;
      if (byName(object.metadata.name) !== undefined) throw refused(409, 'AlreadyExists');
      const metadata = { ...object.metadata, uid: `uid-of-${object.metadata.name}`, resourceVersion: '1' };
      shared.put({ ...object, metadata });
      return { ...object, metadata };
    },
    async get(_: unknown, { name }: { name: string }) {
      const found = byName(name);
      if (found === undefined) throw refused(404, 'NotFound');
      return found;
    },
    async jsonPatch(_: unknown, { name }: { name: string }, patch: readonly { path: string; value: never }[]) {
      const trouble = patchTroubles.shift();
      if (trouble !== undefined) throw trouble;
      const found = byName(name) as AgentExecution;
      const cancel = patch.find(({ path }) => path === '/spec/cancel')?.value;
      if (cancel !== undefined) shared.put({ ...found, spec: { ...found.spec, cancel } });
      return found;
    },
  };
  return createJudgeAgents({
    kube,
    clock: systemClock,
    logger: silentLogger,
    newId: () => 'id',
    audit: { record: () => undefined },
    agents: { locate: async (_tenant: string, name: string) => (name === 'accuracy' ? accuracy : undefined) },
    executions: { ...shared.informer, cache },
  } as never);
}

const isJudge = ({ metadata }: AgentExecution): boolean => metadata.labels?.[labels.parentUid] !== undefined;
const judgesIn = (shared: SharedExecutions) => [...shared.objects.values()].filter(isJudge);
const until = { timeout: 20_000, interval: 20 };

/** The judges, once there are so many. */
const judges = (shared: SharedExecutions, count: number) =>
  vi.waitFor(() => {
    const found = judgesIn(shared);
    expect(found).toHaveLength(count);
    return found;
  }, until);

const outcome = (shared: SharedExecutions) =>
  vi.waitFor(() => {
    expect(shared.outcomes).toHaveLength(1);
    return shared.outcomes[0];
  }, until);

function end(shared: SharedExecutions, judge: AgentExecution | undefined, given: Partial<AgentResult>): void {
  if (judge === undefined) throw new Error('there is no judge');
  const result = { phase: 'completed' as const, at: '2026-01-31T12:00:00.000Z', ...given };
  shared.put({ ...judge, spec: { ...judge.spec, result } });
}

const verdict = (score: number, more: object = {}): Partial<AgentResult> => ({
  output: JSON.stringify({ score, ...more }),
});

const judgedBy = (agent: string, most: AgentSpec['execution'] = {}) =>
  specOf({
    execution: { validation: { agent, threshold: 0.7, criteria: 'No claim without a source.' }, ...most },
  });

/** Records about a judge that a replica has written. */
const written: string[] = [];

/** The bus of a replica that writes nothing behind its first record about a judge. */
function untilVerdict(bus: EventBus): EventBus {
  written.length = 0;
  const logs: EventBus['logs'] = (definition) => {
    const whole = bus.logs(definition);
    return {
      ...whole,
      async append(message) {
        // As where another replica writes: this one drives the conversation no more.
        if (written.length > 0) return undefined;
        const sequence = await whole.append(message);
        const body = String(message.body);
        if (/"kind":"(judge_replied|iteration_judged)"/.test(body)) written.push(body);
        return sequence;
      },
    };
  };
  const get = (target: EventBus, name: string | symbol): unknown => {
    const value: unknown = name === 'logs' ? logs : Reflect.get(target, name);
    return typeof value === 'function' ? value.bind(target) : value;
  };
  return new Proxy(bus, { get });
}

/** Answers `answer 1`, `answer 2` and so on. */
const answers = async ({ messages }: ModelRequest) =>
  replyOf(`answer ${messages.filter(({ role }) => role === 'assistant').length + 1}`);

interface More {
  readonly agent?: string;
  /** Bounds of the agent. */
  readonly most?: AgentSpec['execution'];
  readonly ask?: (request: ModelRequest) => Promise<ModelReply>;
  readonly poolBytes?: number;
  readonly bus?: EventBus;
  readonly troubles?: Error[];
  readonly patchTroubles?: Error[];
}

function startOn(shared: SharedExecutions, { agent = 'accuracy', most, troubles, patchTroubles, ...rest }: More = {}) {
  const judges = judgesOn(shared, troubles, patchTroubles);
  return replicas.startFast({ shared, spec: judgedBy(agent, most), judges, ask: answers, ...rest });
}

describe('an agent that judges answers', () => {
  it('gets task, input, criteria and answer, and its words go to the agent until it accepts', async () => {
    const shared = new SharedExecutions();
    startOn(shared);
    shared.put(executionOf('twice'));
    const [first] = await judges(shared, 1);
    expect(first).toMatchObject({
      metadata: {
        labels: { [labels.parentUid]: 'twice', [labels.agent]: 'accuracy' },
        annotations: { [annotations.agentRoot]: 'twice', [annotations.agentDepth]: '1' },
        ownerReferences: [{ kind: 'AgentExecution', uid: 'twice', controller: true }],
      },
      spec: { agent: 'uid-of-accuracy' },
    });
    expect(JSON.parse(first?.spec.input ?? '')).toEqual({
      task: 'You work. carefully',
      input: 'do it',
      criteria: 'No claim without a source.',
      answer: 'answer 1',
    });
    end(shared, first, { ...verdict(0.2, { reasoning: 'Name it.' }), input_tokens: 10, output_tokens: 20 });
    const [, second] = await judges(shared, 2);
    expect(JSON.parse(second?.spec.input ?? '')).toMatchObject({ answer: 'answer 2' });
    end(shared, second, { ...verdict(0.9), input_tokens: 10, output_tokens: 20 });
    expect(await outcome(shared)).toMatchObject({
      phase: 'completed',
      output: 'answer 2',
      score: 0.9,
      iterations: 2,
      input_tokens: 22,
      output_tokens: 42,
    });
  });

  it('judges once where the replica that started it ends, and another one continues', async () => {
    const shared = new SharedExecutions();
    const gone = startOn(shared);
    shared.put(executionOf('moved'));
    const [judge] = await judges(shared, 1);
    await gone.stop();
    startOn(shared);
    end(shared, judge, verdict(1));
    expect(await outcome(shared)).toMatchObject({ phase: 'completed', output: 'answer 1', score: 1 });
    expect(judgesIn(shared)).toHaveLength(1);
  });

  it('counts the tokens of a judge once where the replica dies behind the first record of the verdict', async () => {
    const shared = new SharedExecutions();
    const gone = startOn(shared, { bus: untilVerdict(replicas.connect()) });
    shared.put(executionOf('counted'));
    const [judge] = await judges(shared, 1);
    const firstWrite = vi.waitFor(() => expect(written).toHaveLength(1), until);
    end(shared, judge, { ...verdict(1), input_tokens: 10, output_tokens: 20, cost_usd: 0.5 });
    await firstWrite;
    await gone.stop();
    startOn(shared);
    // The agent's own reply has one token each way.
    expect(await outcome(shared)).toMatchObject({
      phase: 'completed',
      input_tokens: 11,
      output_tokens: 21,
      cost_usd: 0.5,
    });
  });

  it('bounds a judge by the tokens that are left to the execution', async () => {
    const shared = new SharedExecutions();
    startOn(shared, { most: { max_tokens: 1_000 } });
    shared.put(executionOf('bounded'));
    const [judge] = await judges(shared, 1);
    expect(judge?.spec.max_tokens).toBeGreaterThan(0);
    expect(judge?.spec.max_tokens).toBeLessThanOrEqual(998);
  });

  it('bounds a judge by the cost that is left to the execution', async () => {
    const shared = new SharedExecutions();
    const ask = async () => ({ ...replyOf('answer'), cost_usd: 0.25 });
    startOn(shared, { most: { max_cost_usd: 0.5 }, ask });
    shared.put(executionOf('dear'));
    const [judge] = await judges(shared, 1);
    expect(judge?.spec.max_cost_usd).toBe(0.25);
  });

  it.each([
    ['no bound', {}],
    ['a higher bound', { max_tokens: 1_000 }],
  ])('ends an execution whose own bound is used up where the agent has %s', async (what, most) => {
    const shared = new SharedExecutions();
    startOn(shared, { most });
    const execution = executionOf(what.replaceAll(' ', '-'));
    shared.put({ ...execution, spec: { ...execution.spec, max_tokens: 1 } });
    expect(await outcome(shared)).toMatchObject({
      reason: 'BudgetExceeded',
      message: expect.stringMatching(/^max_tokens is used up but for 1 of them; the next question has about \d+$/),
    });
  });

  it('leaves its place to others while it judges', async () => {
    const shared = new SharedExecutions();
    startOn(shared, { poolBytes: roomLimits.unreadBytes });
    for (const uid of ['one', 'two', 'three']) shared.put(executionOf(uid));
    for (const judge of await judges(shared, 3)) end(shared, judge, verdict(1));
    await vi.waitFor(() => expect(shared.outcomes).toHaveLength(3), until);
  });

  it('ADR 0147 starts where the family of the judged agents is full of them', async () => {
    const shared = new SharedExecutions();
    startOn(shared);
    const marks = { [annotations.agentRoot]: 'root', [annotations.agentDepth]: '1' };
    for (let index = 0; index < limits.agentFamilyMax; index += 1) {
      const member = executionOf(`member-${index}`);
      shared.put({ ...member, metadata: { ...member.metadata, annotations: marks } });
    }
    for (const judge of await judges(shared, limits.agentFamilyMax)) end(shared, judge, verdict(1));
    await vi.waitFor(() => expect(shared.outcomes).toHaveLength(limits.agentFamilyMax), until);
    expect(new Set(shared.outcomes.map(({ phase }) => phase))).toEqual(new Set(['completed']));
  });

  it.each<readonly [title: string, result: Partial<AgentResult>, words: RegExp]>([
    [
      'fails',
      { phase: 'failed', reason: 'Timeout', message: 'too late' },
      /accuracy, execution judge-.*: failed: Timeout: too late/,
    ],
    ['says no JSON', { output: 'fine' }, /its answer is no JSON object/],
    ['gives no score', { output: '{"score": 7}' }, /no "score" from 0 to 1/],
  ])('that %s fails the execution with ValidationFailed', async (title, result, words) => {
    const shared = new SharedExecutions();
    startOn(shared);
    shared.put(executionOf(title.replaceAll(' ', '-')));
    const [judge] = await judges(shared, 1);
    end(shared, judge, result);
    expect(await outcome(shared)).toMatchObject({
      phase: 'failed',
      reason: 'ValidationFailed',
      message: expect.stringMatching(words),
    });
  });

  it.each<readonly [title: string, agent: string, change: object, words: RegExp]>([
    ['does not exist', 'absent', {}, /there is no agent absent; register it/],
    [
      'is too far down its family',
      'accuracy',
      { annotations: { [annotations.agentRoot]: 'root', [annotations.agentDepth]: `${limits.agentDepthMax}` } },
      /agents started one another/,
    ],
  ])('that %s fails the execution, and nothing starts', async (title, agent, metadata, words) => {
    const shared = new SharedExecutions();
    startOn(shared, { agent });
    const execution = executionOf(title.replaceAll(' ', '-'));
    shared.put({ ...execution, metadata: { ...execution.metadata, ...metadata } });
    const message = expect.stringMatching(words);
    expect(await outcome(shared)).toMatchObject({ phase: 'failed', reason: 'ValidationFailed', message });
    expect(judgesIn(shared)).toEqual([]);
  });

  it.each<readonly [title: string, trouble: Error]>([
    ['the API server is away', refused(503, 'ServiceUnavailable')],
    ['the API server has too much to do', refused(429, 'TooManyRequests')],
    ['the API server answers nothing in time', refused(504, 'Timeout')],
    ['the API server does not know who asks', refused(401, 'Unauthorized')],
    ['the API server has no rights of ours yet', refused(403, 'Forbidden')],
    ['a quota changes meanwhile', refused(409, 'Conflict')],
    [
      'the route wraps such an answer',
      new HttpError({ code: 'internal', status: 500, cause: refused(409, 'Conflict') }),
    ],
  ])('is started by a later attempt where %s', async (title, trouble) => {
    const shared = new SharedExecutions();
    startOn(shared, { troubles: [trouble] });
    shared.put(executionOf(title.replaceAll(' ', '-')));
    const [judge] = await judges(shared, 1);
    end(shared, judge, verdict(1));
    expect(await outcome(shared)).toMatchObject({ phase: 'completed', output: 'answer 1', score: 1 });
  });

  it('that a full quota refuses fails the execution at once, and the message names the quota', async () => {
    const shared = new SharedExecutions();
    const full = 'agentexecutions "j" is forbidden: exceeded quota: windlass, used: 3, limited: 3';
    startOn(shared, { troubles: [refused(403, 'Forbidden', full)] });
    shared.put(executionOf('full-quota'));
    const message = expect.stringContaining('exceeded quota: windlass') as string;
    expect(await outcome(shared)).toMatchObject({ phase: 'failed', reason: 'ValidationFailed', message });
  });

  const cancelled = (execution: AgentExecution | undefined): AgentExecution => {
    if (execution === undefined) throw new Error('there is no execution');
    return { ...execution, spec: { ...execution.spec, cancel: { by: 'ada', at: '2026-01-31T12:00:00Z' } } };
  };
  const ourCancel = { by: 'windlass', reason: expect.stringContaining('ended') as string };

  it.each<readonly [title: string, troubles: Error[]]>([
    ['at once', []],
    ['although it changes meanwhile', [failedTest]],
    ['once the API server takes it', [refused(503, 'ServiceUnavailable'), refused(401, 'Unauthorized')]],
  ])('is cancelled with the execution that it judges %s', async (title, patchTroubles) => {
    const shared = new SharedExecutions();
    startOn(shared, { patchTroubles });
    shared.put(executionOf(title));
    await judges(shared, 1);
    shared.put(cancelled(shared.objects.get(title)));
    await vi.waitFor(() => expect(judgesIn(shared)[0]?.spec.cancel).toMatchObject(ourCancel), until);
  });

  it('is cancelled by the next replica where one died between both ends', async () => {
    const before = new SharedExecutions();
    startOn(before);
    before.put(executionOf('orphan'));
    const [judge] = await judges(before, 1);
    const shared = new SharedExecutions();
    for (const one of [cancelled(before.objects.get('orphan')), judge])
      shared.objects.set(one?.metadata.uid ?? '', one as AgentExecution);
    judgesOn(shared);
    shared.put(cancelled(before.objects.get('orphan')));
    await vi.waitFor(() => expect(judgesIn(shared)[0]?.spec.cancel).toMatchObject(ourCancel), until);
  });

  it('is cancelled where it shows after the end of the execution that it judges', async () => {
    const before = new SharedExecutions();
    startOn(before);
    before.put(executionOf('late-judge'));
    const [judge] = await judges(before, 1);
    const shared = new SharedExecutions();
    judgesOn(shared);
    shared.put(cancelled(before.objects.get('late-judge')));
    shared.put(judge as AgentExecution);
    await vi.waitFor(() => expect(judgesIn(shared)[0]?.spec.cancel).toMatchObject(ourCancel), until);
  });
});
