import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { conversationLimits } from '../../../lib/conversation/limits.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import { executionOf, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { createConversationFeed } from '../conversation/live.ts';
import { recordsBehind } from '../conversation/feed.ts';

const replicas = useReplicas();

const never = new AbortController().signal;

/** An execution whose first question has its answer when the test says so. */
async function asking(uid: string) {
  const shared = new SharedExecutions();
  const answer = Promise.withResolvers<undefined>();
  const seen: ModelRequest[] = [];
  const ask = async (request: ModelRequest): Promise<ModelReply> => {
    seen.push(request);
    await answer.promise;
    return replyOf(`answer ${seen.length}`);
  };
  const replica = replicas.start({ shared, ask });
  const execution = executionOf(uid);
  shared.put(execution);
  await vi.waitFor(() => expect(seen).toHaveLength(1), { timeout: 20_000 });
  const conversation = await replica.drivers.open(execution, never);
  if (conversation === undefined) throw new Error('the conversation is over');
  const outcome = () => vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000 });
  return { shared, seen, conversation, outcome, answer: () => answer.resolve(undefined) };
}

async function sayingsOf(uid: string): Promise<number> {
  let count = 0;
  for await (const { record } of recordsBehind(createConversationFeed(replicas.connect(), systemClock), 'acme', uid, 0))
    if (record.kind === 'pod_said') count += 1;
  return count;
}

describe('what the pod of an execution says', () => {
  it('DISPATCH-05 DISPATCH-06 is in the next question to the model, once, however often the pod repeats it', async () => {
    const { shared, seen, conversation, outcome, answer } = await asking('repeats');
    const saying = { iteration: 1, texts: ['The files are in /data.', 'Be brief.'] };
    await Promise.all([conversation.hear(saying, never), conversation.hear(saying, never)]);
    await conversation.hear(saying, never);
    answer();
    await outcome();
    expect(seen[1]?.messages.slice(2)).toEqual([
      { role: 'assistant', content: 'answer 1' },
      { role: 'user', content: 'The files are in /data.' },
      { role: 'user', content: 'Be brief.' },
    ]);
    expect(seen).toHaveLength(2);
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'answer 2', iterations: 1 });
  });

  it('is one record where two requests say the same at once', async () => {
    const { conversation, outcome, answer } = await asking('twice');
    const saying = { iteration: 1, texts: ['The files are in /data.'] };
    await Promise.all([conversation.hear(saying, never), conversation.hear(saying, never)]);
    expect(await sayingsOf('twice')).toBe(1);
    answer();
    await outcome();
  });

  it('is refused beyond so many also where all are said at once', async () => {
    const { conversation, outcome, answer } = await asking('at-once');
    const { podSayings } = conversationLimits;
    const heard = await Promise.allSettled(
      Array.from({ length: podSayings + 20 }, (_, iteration) => conversation.hear({ iteration, texts: ['x'] }, never)),
    );
    expect(heard.filter(({ status }) => status === 'rejected')).toHaveLength(20);
    expect(await sayingsOf('at-once')).toBe(podSayings);
    answer();
    await outcome();
  });

  it('is not written where the pod hangs up before its turn', async () => {
    const { conversation, outcome, answer } = await asking('hangs-up');
    const pod = new AbortController();
    const first = conversation.hear({ iteration: 1, texts: ['first'] }, never);
    const second = conversation.hear({ iteration: 2, texts: ['second'] }, pod.signal);
    pod.abort();
    await Promise.all([first, second]);
    await conversation.hear({ iteration: 3, texts: ['third'] }, never);
    expect(await sayingsOf('hangs-up')).toBe(2);
    answer();
    await outcome();
  });

  it('holds no request of a pod that hangs up while the event bus is away', async () => {
    const { shared, conversation, outcome, answer } = await asking('away');
    const pod = new AbortController();
    await replicas.server.kill();
    const said = conversation.hear({ iteration: 1, texts: ['x'] }, pod.signal);
    pod.abort();
    await said;
    await replicas.server.start();
    answer();
    await outcome();
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed' });
  });

  it('is no record where it is empty', async () => {
    const { conversation, outcome, answer } = await asking('empty');
    await conversation.hear({ iteration: 1, texts: [] }, never);
    answer();
    await outcome();
    expect(await sayingsOf('empty')).toBe(0);
  });

  it('is refused beyond so many, and beyond what a conversation holds, and the execution continues', async () => {
    const { shared, conversation, outcome, answer } = await asking('floods');
    const long = 'x'.repeat(500_000);
    const large = async (): Promise<void> => {
      for (let iteration = 0; iteration < 10; iteration += 1)
        await conversation.hear({ iteration, texts: [long] }, never);
    };
    await expect(large()).rejects.toMatchObject({ reason: 'ConversationTooLarge' });
    const many = async (): Promise<void> => {
      for (let iteration = 10; iteration < 200; iteration += 1)
        await conversation.hear({ iteration, texts: ['x'] }, never);
    };
    await expect(many()).rejects.toMatchObject({ code: 'limit_exceeded', reason: 'TooManyMessages' });
    expect(await sayingsOf('floods')).toBe(conversationLimits.podSayings);
    answer();
    await outcome();
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed' });
  });
});
