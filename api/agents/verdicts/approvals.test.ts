import { describe, expect, it, vi } from 'vitest';
import type { AgentAsk } from '../../../crds/schema/agent-execution.ts';
import { limits } from '../../../crds/limits.ts';
import { systemClock } from '../../../lib/clock.ts';
import { commitAnswer } from '../../../lib/decision/commit-answer.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import type { Tool } from '../../../lib/tools/tool.ts';
import {
  executionOf,
  type Replica,
  replyOf,
  SharedExecutions,
  specOf,
  startReplica,
} from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { createConversationFeed } from '../conversation/live.ts';

const replicas = useReplicas();

const calls: string[] = [];
const wipe: Tool = {
  name: 'cmd.run',
  description: 'runs',
  input_schema: { type: 'object' },
  skip_judge: true,
  idempotent: false,
  fleet_capable: false,
  run: {
    kind: 'api',
    run: async (_caller, args) => {
      calls.push(JSON.stringify(args));
      return { content: 'done', isError: false };
    },
  },
};

/** Calls the tool with these arguments, one call a reply, then says what the tool answered last. */
const caller =
  (...each: readonly object[]) =>
  async ({ messages }: ModelRequest): Promise<ModelReply> => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    const args = each[turn];
    return args === undefined ? replyOf(messages.at(-1)?.content ?? '') : replyOf('', [['cmd.run', args]]);
  };

interface Given {
  readonly seconds?: number;
  readonly tools?: readonly string[];
  readonly bus?: EventBus;
  readonly ask?: (request: ModelRequest) => Promise<ModelReply>;
  readonly judge?: boolean;
}

function replica(shared: SharedExecutions, given: Given = {}): Replica {
  const { seconds = 60, tools = ['cmd.*'], bus = replicas.connect(), ask = caller({ command: 'rm' }), judge } = given;
  const approval = { tools: [...tools], timeout_seconds: seconds };
  const spec = specOf({ approval, ...(judge === true ? { execution: { tool_validation: { enabled: true } } } : {}) });
  return replicas.startFast({ bus, shared, ask, tools: [wipe], spec });
}

/** Puts a new execution, and resolves when it waits for a person. */
async function asking(shared: SharedExecutions, uid: string, deadline?: string): Promise<AgentAsk> {
  calls.length = 0;
  shared.put(executionOf(uid, deadline === undefined ? {} : { deadline }));
  return nextAsk(shared, uid);
}

const nextAsk = (shared: SharedExecutions, uid: string, not?: string): Promise<AgentAsk> =>
  vi.waitFor(
    () => {
      const ask = shared.objects.get(uid)?.spec.ask;
      if (ask === undefined || ask.id === not) throw new Error('nothing is asked');
      return ask;
    },
    { timeout: 15_000, interval: 10 },
  );

const answer = (shared: SharedExecutions, uid: string, response: 'approved' | 'rejected', feedback?: string) =>
  commitAnswer(
    {
      kube: {
        get: async (_resource, { name }) => shared.get(name) as never,
        mergePatch: async (_resource, { name }, patch) => shared.merge(name, patch) as never,
      },
      clock: systemClock,
    },
    executionOf(uid),
    { response, by: 'ada', via: 'api', ...(feedback === undefined ? {} : { feedback }) },
  );

const outcome = (shared: SharedExecutions) =>
  vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000, interval: 20 });

async function recordsOf(uid: string) {
  const feed = createConversationFeed(replicas.connect(), systemClock);
  return (await feed.read('acme', uid, 0)).map(({ record }) => record);
}

describe('a tool call that waits for a person, on a real NATS server', () => {
  it('is written on the execution with its arguments, and runs once it is approved', async () => {
    const shared = new SharedExecutions();
    replica(shared);
    const ask = await asking(shared, 'approved');
    expect(ask).toMatchObject({ tool: 'cmd.run', arguments: '{"command":"rm"}' });
    expect(Date.parse(ask.until) - Date.parse(ask.asked_at)).toBeGreaterThan(59_000);
    expect(calls).toEqual([]);
    await answer(shared, 'approved', 'approved');
    await outcome(shared);
    expect(calls).toEqual(['{"command":"rm"}']);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'done', tool_calls: 1 });
    expect(shared.objects.get('approved')?.spec).not.toHaveProperty('ask');
    expect(await recordsOf('approved')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'approval_asked', request_id: ask.id, tool: 'cmd.run' }),
        expect.objectContaining({ kind: 'approval_given', request_id: ask.id, approved: true, by: 'ada', via: 'api' }),
      ]) as unknown[],
    );
  });

  it('does not run where it is rejected, and the model reads why', async () => {
    const shared = new SharedExecutions();
    replica(shared);
    await asking(shared, 'rejected');
    await answer(shared, 'rejected', 'rejected', 'that folder is in use');
    await outcome(shared);
    expect(calls).toEqual([]);
    const output = 'ToolCallRejected: a person rejected the call: that folder is in use';
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output, tool_calls: 0 });
  });

  it('is refused where no answer comes in time, and takes none afterwards', async () => {
    const shared = new SharedExecutions();
    replica(shared, { seconds: 1 });
    await asking(shared, 'late');
    await outcome(shared);
    expect(calls).toEqual([]);
    expect(shared.outcomes[0]).toMatchObject({ output: expect.stringContaining('ApprovalTimeout') as string });
    expect(shared.objects.get('late')?.spec).not.toHaveProperty('ask');
    await expect(answer(shared, 'late', 'approved')).rejects.toMatchObject({ reason: 'NotWaiting' });
  });

  it('waits no longer than the execution may take', async () => {
    const shared = new SharedExecutions();
    replica(shared);
    const deadline = new Date(Date.now() + 20_000).toISOString();
    expect((await asking(shared, 'short', deadline)).until).toBe(deadline);
  });

  it('takes one answer of many at once', async () => {
    const shared = new SharedExecutions();
    replica(shared);
    await asking(shared, 'race');
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => answer(shared, 'race', index % 2 === 0 ? 'approved' : 'rejected')),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await outcome(shared);
    expect(shared.objects.get('race')?.spec.signals).toHaveLength(1);
  });

  it('is asked for call by call, under an id of each', async () => {
    const shared = new SharedExecutions();
    replica(shared, { ask: caller({ command: 'a' }, { command: 'b' }) });
    const first = await asking(shared, 'twice');
    await answer(shared, 'twice', 'approved');
    const second = await nextAsk(shared, 'twice', first.id);
    expect(calls).toEqual(['{"command":"a"}']);
    expect(second.arguments).toBe('{"command":"b"}');
    await answer(shared, 'twice', 'approved');
    await outcome(shared);
    expect(calls).toEqual(['{"command":"a"}', '{"command":"b"}']);
  });

  it.each(['cmd.*', 'cmd.run', 'cmd', '*'])('is one that spec.approval names: %s', async (pattern) => {
    const shared = new SharedExecutions();
    replica(shared, { tools: [pattern] });
    await asking(shared, `named-${pattern.length}`);
    expect(calls).toEqual([]);
  });

  it('is none of the tools that spec.approval does not name', async () => {
    const shared = new SharedExecutions();
    replica(shared, { tools: ['fs.*', 'cmd.runs'] });
    calls.length = 0;
    shared.put(executionOf('unnamed'));
    await outcome(shared);
    expect(calls).toHaveLength(1);
  });

  it('survives the replica that asked, and the one that comes after it asks nothing again', async () => {
    const shared = new SharedExecutions();
    const bus = replicas.connect();
    const model = vi.fn<(request: ModelRequest) => Promise<ModelReply>>(caller({ command: 'rm' }));
    startReplica({
      bus,
      shared,
      ask: model,
      tools: [wipe],
      spec: specOf({ approval: { tools: ['cmd.*'] } }),
    });
    const ask = await asking(shared, 'killed');
    // The process is gone: its connection is, and nothing of it writes any more.
    await bus.close(0);
    replica(shared, { ask: model });
    await answer(shared, 'killed', 'approved');
    await outcome(shared);
    expect(calls).toEqual(['{"command":"rm"}']);
    expect(model).toHaveBeenCalledTimes(2);
    const kinds = (await recordsOf('killed')).filter(({ kind }) => kind === 'approval_asked');
    expect(kinds).toMatchObject([{ request_id: ask.id }]);
  });

  it('runs once, whichever of three replicas hears of the answer', async () => {
    const shared = new SharedExecutions();
    for (let index = 0; index < 3; index += 1) replica(shared);
    await asking(shared, 'three');
    await answer(shared, 'three', 'approved');
    await outcome(shared);
    expect(calls).toEqual(['{"command":"rm"}']);
    const given = (await recordsOf('three')).filter(({ kind }) => kind === 'approval_given');
    expect(given).toHaveLength(1);
  });

  it('takes no memory of a conversation: a thousand that wait hold up no other', async () => {
    const shared = new SharedExecutions();
    const slow = vi.fn<(request: ModelRequest) => Promise<ModelReply>>(caller({ command: 'rm' }));
    replica(shared, { ask: slow });
    const uids = Array.from({ length: 1_000 }, (_, index) => `many-${index}`);
    for (const uid of uids) shared.put(executionOf(uid, { namespace: index10(uid) }));
    await vi.waitFor(() => expect(uids.every((uid) => shared.objects.get(uid)?.spec.ask !== undefined)).toBe(true), {
      timeout: 60_000,
      interval: 100,
    });
    await answer(shared, 'many-0', 'rejected');
    await outcome(shared);
    expect(shared.outcomes).toHaveLength(1);
  }, 90_000);

  it.each(['isAway', 'isStranger', 'isRefusing'] as const)(
    'waits out an API server that answers nothing of use: %s',
    async (trouble) => {
      const shared = new SharedExecutions();
      const model = caller({ command: 'rm' });
      replica(shared, {
        ask: async (request) => {
          const reply = await model(request);
          shared[trouble] = reply.tool_calls.length > 0;
          return reply;
        },
      });
      shared.put(executionOf(trouble));
      await vi.waitFor(async () => expect((await recordsOf(trouble)).at(-1)?.kind).toBe('approval_asked'), {
        timeout: 20_000,
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(shared.objects.get(trouble)?.spec.ask).toBeUndefined();
      shared[trouble] = false;
      await nextAsk(shared, trouble);
      await answer(shared, trouble, 'rejected');
      await outcome(shared);
      expect(shared.outcomes[0]).toMatchObject({ phase: 'completed' });
    },
  );

  it('is not asked about where the judge refuses it', async () => {
    const shared = new SharedExecutions();
    const model = caller({ command: 'rm' });
    const ask = async (request: ModelRequest): Promise<ModelReply> =>
      request.messages[0]?.content.includes('tool call of an agent') === true
        ? replyOf('{"allow":false,"reason":"harmful"}')
        : model(request);
    replica(shared, { ask, judge: true });
    shared.put(executionOf('unjudged'));
    await outcome(shared);
    expect(shared.outcomes[0]).toMatchObject({ output: expect.stringContaining('ToolCallRefused') as string });
    expect((await recordsOf('unjudged')).map(({ kind }) => kind)).not.toContain('approval_asked');
  });

  const withArguments = (length: number) => {
    const shared = new SharedExecutions();
    replica(shared, { ask: caller({ command: 'x'.repeat(length - '{"command":""}'.length) }) });
    return shared;
  };

  it.each([limits.askArgumentsLength - 1, limits.askArgumentsLength])(
    'with arguments of %i characters is shown in full',
    async (length) => {
      const ask = await asking(withArguments(length), `long-${length}`);
      expect(ask.arguments).toHaveLength(length);
    },
  );

  it('with longer arguments is refused', async () => {
    const shared = withArguments(limits.askArgumentsLength + 1);
    calls.length = 0;
    shared.put(executionOf('longer'));
    await outcome(shared);
    expect(shared.outcomes[0]).toMatchObject({ output: expect.stringContaining('ArgumentsTooLong') as string });
    expect(calls).toEqual([]);
  });

  it('shows signs that hide or turn text as escapes, and means the same arguments', async () => {
    const shared = new SharedExecutions();
    const args = { command: 'rm \u202etxt.exe\u200b\u0000', note: 'ü 漢 😀' };
    replica(shared, { ask: caller(args) });
    const { arguments: shown } = await asking(shared, 'unseen');
    expect(shown).toContain(String.raw`rm \u202etxt.exe\u200b\u0000`);
    expect(shown).toContain('ü 漢 😀');
    expect(JSON.parse(shown)).toEqual(args);
  });

  it('is refused after 50 asks of an execution', async () => {
    const shared = new SharedExecutions();
    const each = Array.from({ length: limits.agentAsks + 1 }, (_, index) => ({ command: `${index}` }));
    replica(shared, { ask: caller(...each) });
    let last: string | undefined;
    shared.put(executionOf('flood'));
    for (let asked = 0; asked < limits.agentAsks; asked += 1) {
      last = (await nextAsk(shared, 'flood', last)).id;
      await answer(shared, 'flood', 'rejected');
    }
    await outcome(shared);
    expect(shared.outcomes[0]).toMatchObject({ output: expect.stringContaining('ApprovalsExceeded') as string });
  }, 60_000);

  it('ends with the execution: a cancelled one asks no more', async () => {
    const shared = new SharedExecutions();
    replica(shared);
    await asking(shared, 'cancelled');
    const execution = shared.objects.get('cancelled');
    shared.put({
      ...execution,
      spec: { ...execution?.spec, cancel: { by: 'me', at: '2026-01-31T12:00:00Z' } },
    } as never);
    await expect(answer(shared, 'cancelled', 'approved')).rejects.toMatchObject({ reason: 'NotWaiting' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(calls).toEqual([]);
  });

  it('a feedback of more than 8,192 characters is refused', async () => {
    const shared = new SharedExecutions();
    replica(shared);
    await asking(shared, 'wordy');
    const word = 'x'.repeat(limits.askFeedbackLength);
    await expect(answer(shared, 'wordy', 'rejected', `${word}x`)).rejects.toMatchObject({ code: 'invalid' });
    await answer(shared, 'wordy', 'rejected', word);
    await outcome(shared);
  });
});

/** Ten tenants. */
const index10 = (uid: string): string => `acme-${Number(uid.slice('many-'.length)) % 10}`;
