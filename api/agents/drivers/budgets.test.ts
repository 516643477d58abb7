import { describe, expect, it, vi } from 'vitest';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import { systemClock } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { lengthOfDefinitions } from '../../../lib/models/cost.ts';
import { ModelError, type ModelLimits, type ModelReply, type ModelRequest } from '../../../lib/models/models.ts';
import type { Tool } from '../../../lib/tools/tool.ts';
import { executionOf, replyOf, SharedExecutions, specOf } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { createConversationFeed } from '../conversation/live.ts';

const replicas = useReplicas();
const until = { timeout: 20_000, interval: 20 };
const price = { input_per_million: 2, output_per_million: 10 };

/** A tool whose definition has about 3,000 characters, which are 1,000 tokens. */
const wordy: Tool = {
  name: 'notes.read',
  description: 'Reads a note. '.repeat(210),
  input_schema: { type: 'object' },
  required: [],
  idempotent: true,
  run: { kind: 'api', run: async () => ({ content: 'a note', isError: false }) },
} as never;

interface Run {
  readonly execution: AgentSpec['execution'];
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<ModelLimits>;
  readonly replies?: readonly (ModelReply | ModelError)[];
}

/** Runs an agent to its end: its outcome, and the questions that its models were asked. */
async function run({ execution, tools = [], limits = {}, replies = [replyOf('done')] }: Run) {
  const asked: ModelRequest[] = [];
  const shared = new SharedExecutions();
  const ask = async (request: ModelRequest): Promise<ModelReply> => {
    asked.push(request);
    const reply = replies[asked.length - 1] ?? replyOf('done');
    if (reply instanceof ModelError) throw reply;
    return reply;
  };
  const spec = specOf({ execution: { ...execution } });
  replicas.start({ shared, ask, tools, spec, limits: { maxOutputTokens: 5_000, ...limits } });
  const uid = newId();
  shared.put(executionOf(uid));
  const outcome = await vi.waitFor(() => {
    expect(shared.outcomes).toHaveLength(1);
    return shared.outcomes[0];
  }, until);
  return { asked, outcome, uid };
}

/** The record of each answer of the model. */
async function repliesOf(uid: string) {
  const feed = createConversationFeed(replicas.connect(), systemClock);
  const records = (await feed.read('acme', uid, 0)).map(({ record }) => record);
  return records.filter((record) => record.kind === 'model_replied');
}

const bounds = ({ asked }: { readonly asked: readonly ModelRequest[] }) => asked.map((one) => one.maxOutputTokens);

describe('the budget of an execution', () => {
  it('of tokens counts the definitions of tools as part of each question', async () => {
    const [bare, offered] = [
      await run({ execution: { max_tokens: 2_000 } }),
      await run({ execution: { max_tokens: 2_000 }, tools: [wordy] }),
    ];
    const definition = Math.ceil(lengthOfDefinitions({ tools: [wordy] }) / 3);
    expect(definition).toBeGreaterThan(900);
    expect(Math.abs((bounds(bare)[0] ?? 0) - (bounds(offered)[0] ?? 0) - definition)).toBeLessThanOrEqual(1);
    const none = await run({ execution: { max_tokens: 900 }, tools: [wordy] });
    expect(none).toMatchObject({ asked: [], outcome: { phase: 'failed', reason: 'BudgetExceeded' } });
    expect(none.outcome?.message).toMatch(
      /^max_tokens is used up but for 900 of them; the next question has about 1\d\d\d$/,
    );
  });

  it('of a cost clamps the answer to what the price leaves, and ends the execution before it is exceeded', async () => {
    const first = { ...replyOf('', [['notes.read', {}]]), cost_usd: 0.009 };
    const { asked, outcome } = await run({
      execution: { max_cost_usd: 0.01 },
      tools: [wordy],
      limits: { price },
      replies: [first],
    });
    const [bound = 0, ...more] = asked.map((one) => one.maxOutputTokens);
    expect(more).toEqual([]);
    expect(bound).toBeGreaterThan(700);
    // 1,000 tokens of the question cost 0.002 USD.
    expect(bound).toBeLessThan(800);
    expect(outcome).toMatchObject({ phase: 'failed', reason: 'BudgetExceeded', cost_usd: 0.009 });
    expect(outcome?.message).toMatch(
      /^max_cost_usd is used up but for 0\.001 USD; the next question has about 1\d\d\d tokens$/,
    );
  });

  it('of a cost clamps the verdicts of judges as well', async () => {
    const verdict = replyOf('{"score": 1, "feedback": ""}');
    const { asked, outcome } = await run({
      execution: { max_cost_usd: 0.01, validation: { threshold: 0.5 } },
      limits: { price },
      replies: [
        { ...replyOf('done'), cost_usd: 0.005 },
        { ...verdict, cost_usd: 0.001 },
      ],
    });
    expect(outcome).toMatchObject({ phase: 'completed', cost_usd: 0.006 });
    expect(asked).toHaveLength(2);
    expect(asked[1]?.maxOutputTokens).toBeLessThan(500);
    expect(asked[1]?.maxOutputTokens).toBeGreaterThan(350);
  });

  it('of tokens counts the replies of a judge of calls that are no verdict', async () => {
    const call = (n: number) => ({ ...replyOf('', [['notes.read', { n }]]), input_tokens: 10, output_tokens: 10 });
    const talk = { ...replyOf('I would rather not say.'), input_tokens: 900, output_tokens: 100 };
    const replies = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? call(at) : talk));
    const execution = { max_tokens: 5_000, tool_validation: { enabled: true } };
    const { asked, outcome } = await run({ execution, tools: [wordy], limits: { maxOutputTokens: 200 }, replies });
    expect(outcome).toMatchObject({ reason: 'BudgetExceeded' });
    expect(asked.length).toBeLessThanOrEqual(10);
  });

  it('of a cost without a price of the model fails before the model is asked, and says what to write where', async () => {
    const { asked, outcome } = await run({ execution: { max_cost_usd: 1 }, limits: { unpriced: 'big-1' } });
    expect(asked).toEqual([]);
    expect(outcome).toMatchObject({ phase: 'failed', reason: 'PriceUnknown' });
    expect(outcome?.message).toContain('no price of the model big-1 (alias default). Add it to spec.prices');
  });

  it('of the model’s window leaves older exchanges out for the definitions of tools', async () => {
    const calls = (round: number): ModelReply => replyOf(`round ${round} `.padEnd(900, 'x'), [['notes.read', {}]]);
    const replies = [calls(1), calls(2), replyOf('done')];
    const limits = { contextWindow: 2_000, maxOutputTokens: 100 };
    const offered = await run({ execution: {}, limits, replies, tools: [wordy] });
    const last = offered.asked.at(-1)?.messages ?? [];
    expect(last.map(({ content }) => content.slice(0, 7))).not.toContain('round 1');
    expect(last.map(({ content }) => content.slice(0, 7))).toContain('round 2');
    const units = last.reduce((sum, { content }) => sum + content.length, lengthOfDefinitions({ tools: [wordy] }));
    expect(units / 3 + 100).toBeLessThan(2_000);
    const left = await repliesOf(offered.uid);
    expect(left.map(({ left_out }) => left_out)).toEqual([undefined, undefined, 1]);
    expect(left.map(({ no_room }) => no_room)).toEqual([undefined, undefined, undefined]);
  });

  it('of the model’s window is said to be used up by the definitions of tools, in the transcript and where the model fails', async () => {
    const limits = { contextWindow: 1_200, maxOutputTokens: 100 };
    const call = replyOf('round', [['notes.read', {}]]);
    const crowded = await run({ execution: {}, limits, replies: [call, call, replyOf('done')], tools: [wordy] });
    expect(crowded.outcome).toMatchObject({ phase: 'completed' });
    const said = await repliesOf(crowded.uid);
    expect(said.map(({ left_out }) => left_out)).toEqual([undefined, undefined, 1]);
    for (const { no_room } of said)
      expect(no_room).toMatch(/^no room for the conversation: .* 1200 tokens.* spec\.tools/);
    const refusal = new ModelError('ContextTooLong', 'the provider p finds the conversation too long');
    const { outcome } = await run({ execution: {}, limits, replies: [refusal], tools: [wordy] });
    expect(outcome).toMatchObject({ phase: 'failed', reason: 'ContextTooLong' });
    expect(outcome?.message).toMatch(/finds the conversation too long; no room for the conversation: .* spec\.tools/);
    const roomy = await run({ execution: {}, limits: { maxOutputTokens: 100 }, replies: [refusal], tools: [wordy] });
    expect(roomy.outcome?.message).toBe('the provider p finds the conversation too long');
  });
});
