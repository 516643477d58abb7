import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { toErrorReply } from '../../../lib/http/error-reply.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import { freezable } from '../../../test/agents/freezable.ts';
import { executionOf, podTool, type Replica, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { fasterClock } from '../../../test/support/faster-clock.ts';
import { createConversationFeed } from '../conversation/live.ts';
import { lookMs } from './overtaken.ts';

const replicas = useReplicas({ areConcurrent: true });

async function kindsOf(uid: string) {
  const feed = createConversationFeed(await replicas.connected(), systemClock);
  return (await feed.read('acme', uid, 0)).map(({ record }) => record.kind);
}

const reaches = (uid: string, kind: string) =>
  vi.waitFor(async () => expect((await kindsOf(uid)).at(-1)).toBe(kind), { timeout: 60_000, interval: 50 });

const ask = async ({ messages }: ModelRequest): Promise<ModelReply> =>
  messages.some(({ role }) => role === 'tool') ? replyOf('done') : replyOf('', [['fs.write', {}]]);

const result = { exit_code: 0, stdout: 'out', stderr: '', duration_ms: 1, truncated: false };
const tools = [podTool(false)];

/** A driver hangs while its command waits for the pod, another one takes the conversation over, and the first one wakes. */
async function overtaken(uid: string, clock = systemClock) {
  const shared = new SharedExecutions();
  const { bus, freeze, thaw } = freezable(replicas.connect());
  const first = replicas.start({ bus, shared, clock, ask, tools });
  shared.put(executionOf(uid));
  await reaches(uid, 'tool_started');
  freeze();
  const second = replicas.startFast({ shared, ask, tools });
  await reaches(uid, 'taken_over');
  thaw();
  return { shared, first, second };
}

/** As the route of the pods does: again for as long as the conversation moves. */
async function asked({ drivers }: Replica, uid: string) {
  const signal = AbortSignal.timeout(60_000);
  for (;;) {
    const channel = (await drivers.open(executionOf(uid), signal))?.channel;
    const offered = await channel?.ask('pod-1', signal);
    if (offered !== undefined || signal.aborted) return { channel, offered };
  }
}

describe.concurrent('a driver that was overtaken while its command waits for the pod', () => {
  it('gives the pod the command of the next driver, and no refusal', { timeout: 120_000 }, async () => {
    const { shared, first } = await overtaken('asks');
    const { channel, offered } = await asked(first, 'asks');
    await channel?.report(offered?.dispatch_id ?? '', result, AbortSignal.timeout(20_000));
    await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ output: 'done', tool_calls: 1 }]), {
      timeout: 20_000,
    });
  });

  it('has the pod report again what the next driver gave it', { timeout: 120_000 }, async () => {
    const { shared, first, second } = await overtaken('reports');
    const { offered } = await asked(second, 'reports');
    const signal = AbortSignal.timeout(60_000);
    const statuses: number[] = [];
    for (let isTaken = false; !isTaken && !signal.aborted; await systemClock.sleep(100)) {
      const conversation = await first.drivers.open(executionOf('reports'), signal);
      isTaken = await (
        conversation?.channel.report(offered?.dispatch_id ?? '', result, signal) ?? Promise.reject()
      ).then(
        () => true,
        (error: unknown) => statuses.push(toErrorReply(error).status) === 0,
      );
    }
    expect(statuses.filter((status) => status !== 503)).toEqual([]);
    await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ output: 'done', tool_calls: 1 }]), {
      timeout: 20_000,
    });
  });

  it('drives no more although no pod asks: once the next driver ends, the conversation is driven', {
    timeout: 120_000,
  }, async () => {
    const { second } = await overtaken('silent', fasterClock);
    await fasterClock.sleep(2 * lookMs);
    await second.stop();
    await vi.waitFor(
      async () => expect((await kindsOf('silent')).filter((kind) => kind === 'taken_over')).toHaveLength(2),
      { timeout: 40_000, interval: 200 },
    );
  });
});

describe.concurrent('a driver that is to leave in the midst of a question', () => {
  it('is not taken for frozen: the model is asked once, however long it thinks', { timeout: 120_000 }, async () => {
    const shared = new SharedExecutions();
    const thought = Promise.withResolvers<ModelReply>();
    const slow = vi.fn<() => Promise<ModelReply>>(() => thought.promise);
    const other = vi.fn<() => Promise<ModelReply>>(async () => replyOf('by the other'));
    replicas.startFast({ shared, ask: slow, tools });
    shared.put(executionOf('slow'));
    await reaches('slow', 'model_asked');
    const { drivers } = replicas.startFast({ shared, ask: other, tools });
    const over = new AbortController();
    const opened = drivers.open(executionOf('slow'), over.signal);
    // Its scans come every half second: three silent looks of 2 s each would count as frozen within this.
    await systemClock.sleep(12_000);
    expect([slow.mock.calls.length, other.mock.calls.length]).toEqual([1, 0]);
    thought.resolve(replyOf('by the first'));
    await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ output: 'by the first' }]), { timeout: 20_000 });
    over.abort();
    await opened;
    expect(other).not.toHaveBeenCalled();
  });
});
