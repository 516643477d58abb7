import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import { executionOf, podTool, replyOf, SharedExecutions, startReplica } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { createConversationFeed } from '../conversation/live.ts';
import { listBytes } from '../registered/registered-tools.ts';
import { roomLimits } from './room.ts';

const replicas = useReplicas();

/** A model that answers all that wait when the test says so. */
function heldModel(reply: (request: ModelRequest) => ModelReply) {
  const waiting: (() => void)[] = [];
  let most = 0;
  const ask = async (request: ModelRequest): Promise<ModelReply> => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    waiting.push(() => resolve(undefined));
    most = Math.max(most, waiting.length);
    await promise;
    return reply(request);
  };
  return {
    ask,
    get waiting() {
      return waiting.length;
    },
    get most() {
      return most;
    },
    answer: () => waiting.splice(0).forEach((resolve) => resolve()),
  };
}

/** Conversations by the five letters that their input begins with, and a model that a test answers for each of them. */
function marked(prefix: string) {
  const shared = new SharedExecutions();
  const waiting = new Map<string, (reply: ModelReply) => void>();
  const ask = ({ messages }: ModelRequest): Promise<ModelReply> => {
    const { promise, resolve } = Promise.withResolvers<ModelReply>();
    waiting.set(messages.find(({ role }) => role === 'user')?.content.slice(0, 5) ?? '', resolve);
    return promise;
  };
  const isAsked = (mark: string) => vi.waitFor(() => expect([...waiting.keys()]).toContain(mark), patience);
  const put = (mark: string, length: number): void => {
    const execution = executionOf(`${prefix}-${mark}`);
    shared.put({ ...execution, spec: { ...execution.spec, input: mark.padEnd(length, 'x') } });
  };
  return {
    shared,
    ask,
    isAsked,
    put,
    begin: (mark: string, length: number) => (put(mark, length), isAsked(mark)),
    answer: (mark: string, reply: ModelReply): void => {
      waiting.get(mark)?.(reply);
      waiting.delete(mark);
    },
    ended: (count: number) => vi.waitFor(() => expect(shared.outcomes).toHaveLength(count), patience),
  };
}

const patience = { timeout: 60_000, interval: 50 };

describe('many conversations of one tenant on one replica', () => {
  it('all wait for their model at once where they hold little', { timeout: 120_000 }, async () => {
    const shared = new SharedExecutions();
    const model = heldModel(() => replyOf('done'));
    replicas.start({ shared, ask: model.ask });
    for (let index = 0; index < 400; index += 1) shared.put(executionOf(`small-${index}`));
    await vi.waitFor(() => expect(model.waiting).toBe(400), patience);
    model.answer();
    await vi.waitFor(() => expect(shared.outcomes).toHaveLength(400), patience);
  });

  it('ask for as much room as they hold, and no more, where they grow while there is none', {
    timeout: 120_000,
  }, async () => {
    const { shared, ask, begin, isAsked, answer, ended } = marked('grown');
    replicas.start({ shared, ask, poolBytes: 1024 * 1024 });
    await begin('stays', 10);
    await begin('grows', 10);
    await begin('large', 90_000);
    // Room for it is there when `large` is over, and not beside it; `stays` holds its own until the end.
    answer('grows', replyOf('y'.repeat(60_000), [['unknown', {}]]));
    const feed = createConversationFeed(replicas.connect(), systemClock);
    await vi.waitFor(async () => {
      const kinds = (await feed.read('acme', 'grown-grows', 0)).map(({ record }) => record.kind);
      expect(kinds).toContain('model_replied');
    }, patience);
    answer('large', replyOf('done'));
    await ended(1);
    await isAsked('grows');
    answer('grows', replyOf('done'));
    await ended(2);
    answer('stays', replyOf('done'));
    await ended(3);
  });

  it('ask for twice what was read, where there is no room to read on', { timeout: 120_000 }, async () => {
    const { shared, ask, begin, put, isAsked, answer, ended } = marked('read');
    const before = startReplica({ bus: replicas.connect(), shared, ask });
    await begin('grows', 10);
    answer('grows', replyOf('y'.repeat(150_000), [['unknown', {}]]));
    await isAsked('grows');
    const stopped = before.stop();
    answer('grows', replyOf('', [['unknown', {}]]));
    await stopped;
    shared.objects.clear();
    replicas.start({ shared, ask, poolBytes: 3 * 1024 * 1024 });
    await begin('stays', 10);
    await begin('large', 300_000);
    put('grows', 10);
    // It comes in where `grows` has given its place back.
    await begin('later', 10);
    answer('large', replyOf('done'));
    await ended(1);
    await isAsked('grows');
    for (const [index, mark] of ['grows', 'later', 'stays'].entries()) {
      answer(mark, replyOf('done'));
      await ended(index + 2);
    }
    expect(shared.outcomes.map(({ phase }) => phase)).toEqual(Array(4).fill('completed'));
  });

  it('take turns where they hold much, and all end', { timeout: 120_000 }, async () => {
    const shared = new SharedExecutions();
    const input = 'x'.repeat(700_000);
    const model = heldModel(() => replyOf('done'));
    const poolBytes = 4 * roomLimits.largestBytes;
    replicas.start({ shared, ask: model.ask, poolBytes });
    for (let index = 0; index < 20; index += 1) {
      const execution = executionOf(`large-${index}`);
      shared.put({ ...execution, spec: { ...execution.spec, input } });
    }
    await vi.waitFor(() => {
      model.answer();
      expect(shared.outcomes).toHaveLength(20);
    }, patience);
    expect(shared.outcomes.map(({ phase }) => phase)).toEqual(Array(20).fill('completed'));
    // Two bytes a character, held and as the body of a request.
    expect(model.most * input.length * 4).toBeLessThan(poolBytes);
  });

  it('take turns where they are offered long lists of registered tools, and all end', {
    timeout: 120_000,
  }, async () => {
    const shared = new SharedExecutions();
    const model = heldModel(() => replyOf('done'));
    const enums = Array.from({ length: 10_000 }, (_, index) => ({ const: index }));
    const tool = { ...podTool(true), name: 'crm.find', input_schema: { type: 'object', anyOf: enums } };
    const bytes = listBytes([tool]);
    expect(bytes).toBeGreaterThan(512 * 1024);
    // Each replica parses lists for itself, and keeps the newest ones alone.
    const registered = { offered: async () => [structuredClone({ ...tool, run: undefined }) as never] };
    const poolBytes = 1.5 * roomLimits.largestBytes;
    replicas.start({ shared, ask: model.ask, registered, poolBytes });
    for (let index = 0; index < 20; index += 1) shared.put(executionOf(`offered-${index}`));
    await vi.waitFor(() => {
      model.answer();
      expect(shared.outcomes).toHaveLength(20);
    }, patience);
    expect(shared.outcomes.map(({ phase }) => phase)).toEqual(Array(20).fill('completed'));
    // Held, and as the body of a request.
    expect(model.most).toBeGreaterThan(1);
    expect(model.most * bytes * 2).toBeLessThan(poolBytes);
  });
});
