import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentExecutionReason } from '../../crds/conditions.ts';
import type { AgentSpec } from '../../crds/schema/agent.ts';
import { AppError } from '../errors.ts';
import type { ModelMessage } from '../models/models.ts';
import { answerBound } from './budget.ts';
import { crowdedBy, fitting } from './messages.ts';
import { type Effect, failure, next } from './next.ts';
import type { ConversationRecord } from './record.ts';
import { type ConversationState, emptyState, fold, sizeOf, sizeOfAll } from './state.ts';

const at = '2026-01-31T12:00:00.000Z';

const specOf = (execution: AgentSpec['execution'] = {}, more: Partial<AgentSpec> = {}): AgentSpec => ({
  version: '1.0.0',
  runtime: { model: 'default' },
  task: { instruction: 'Work.' },
  execution,
  ...more,
});

type NewRecord = ConversationRecord extends infer R ? (R extends unknown ? Omit<R, 'at'> : never) : never;

type EffectOf<K extends Effect['kind']> = Extract<Effect, { kind: K }>;

/** A world that answers effects, and writes down what ran. */
class World {
  readonly records: ConversationRecord[] = [];
  readonly ran: string[] = [];
  readonly asked: (number | undefined)[] = [];
  /** Tokens that each verdict might take. */
  readonly judged: (number | undefined)[] = [];
  readonly #replies: readonly Reply[];
  readonly #scores: readonly number[];
  #turn = 0;
  #judged = 0;

  constructor(replies: readonly Reply[], scores: readonly number[] = []) {
    this.#replies = replies;
    this.#scores = scores;
  }

  state(): ConversationState {
    const state = emptyState();
    for (const record of this.records) fold(state, record);
    return state;
  }

  /** Runs to the end; `dies` says before which effects the replica loses all that it had in memory. */
  run(spec: AgentSpec, dies: (step: number) => boolean = () => false): ConversationState {
    let state = this.state();
    for (let step = 0; step < 2_000; step += 1) {
      if (dies(step)) state = this.state();
      const effect = next(state, spec);
      if (effect.kind === 'none') return state;
      try {
        this.#act(state, effect, spec);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        this.#put(state, {
          kind: 'ended',
          result: { ...failure(state, error.reason as AgentExecutionReason, error.message), at },
        });
      }
    }
    throw new Error('the conversation has no end');
  }

  #put(state: ConversationState, fields: NewRecord): void {
    const record = { ...fields, at } as ConversationRecord;
    this.records.push(record);
    fold(state, record);
  }

  #act(state: ConversationState, effect: Effect, spec: AgentSpec): void {
    const put = (fields: NewRecord): void => this.#put(state, fields);
    switch (effect.kind) {
      case 'start':
        return put({
          kind: 'started',
          agent_id: 'a',
          agent: 'a',
          version: '1',
          system: 'Work.',
          input: 'x',
          model: 'm',
        });
      case 'begin_iteration':
        return put({ ...effect, kind: 'iteration_started' });
      case 'ask_model':
        return this.#reply(state, effect);
      case 'call_tool':
        if (spec.execution?.tool_validation?.enabled === true) this.#judgeCall(state, effect);
        return this.#callTool(state, effect);
      case 'judge_answer': {
        this.#judge(state, answerBound(effect.budget, questionOf(effect.answer.length)));
        const score = this.#scores[Math.min(this.#judged++, this.#scores.length - 1)] ?? 1;
        return put({ kind: 'iteration_judged', iteration: effect.iteration, score, feedback: `worth ${score}` });
      }
      case 'complete_iteration':
        return put({ ...effect, kind: 'iteration_completed' });
      case 'end':
        return put({ kind: 'ended', result: { ...effect.result, at } });
      case 'none':
        return undefined;
    }
  }

  #reply(state: ConversationState, effect: EffectOf<'ask_model'>): void {
    const put = (fields: NewRecord): void => this.#put(state, fields);
    this.asked.push(answerBound(effect.budget, questionOf(sizeOfAll(state.messages))));
    put({ kind: 'model_asked', iteration: effect.iteration, call: state.modelCalls + 1 });
    const reply = this.#replies[Math.min(this.#turn++, this.#replies.length - 1)] ?? { content: 'done', calls: 0 };
    const calls = Array.from({ length: reply.calls }, (_, index) => ({
      id: `call_${state.modelCalls}_${index}`,
      name: 'fs.read',
      arguments: '{"path":"/workspace/a"}',
    }));
    return put({
      kind: 'model_replied',
      content: reply.content,
      tool_calls: calls,
      stop: reply.stop ?? (calls.length > 0 ? 'tool_calls' : 'end'),
      provider: 'p',
      model: 'm',
      input_tokens: 10,
      output_tokens: reply.tokens ?? 10,
      cost_usd: 0.25,
    });
  }

  #judgeCall(state: ConversationState, { call, budget = {} }: EffectOf<'call_tool'>): void {
    this.#judge(state, answerBound(budget, questionOf(call.arguments.length)));
    this.#put(state, { kind: 'call_judged', call_id: call.id, allowed: true, reason: '' });
  }

  #judge(state: ConversationState, maxOutputTokens: number | undefined): void {
    this.judged.push(maxOutputTokens);
    this.#put(state, { kind: 'judge_replied', input_tokens: 10, output_tokens: 10, cost_usd: 0.25 });
  }

  #callTool(state: ConversationState, effect: EffectOf<'call_tool'>): void {
    const put = (fields: NewRecord): void => this.#put(state, fields);
    const { call, refusal } = effect;
    if (refusal === undefined) {
      put({ kind: 'tool_started', call_id: call.id, tool: call.name, arguments: {} });
      this.ran.push(call.id);
    }
    return put({
      kind: 'tool_ended',
      call_id: call.id,
      tool: call.name,
      content: refusal ?? 'text',
      is_error: refusal !== undefined,
      ran: refusal === undefined,
    });
  }
}

/** A model whose price nothing bounds. */
const questionOf = (units: number) => ({ units, alias: 'default', limits: { maxOutputTokens: 1_000 } });

interface Reply {
  readonly content: string;
  readonly calls: number;
  readonly stop?: 'length';
  readonly tokens?: number;
}

const replies = fc.array(fc.record({ content: fc.string({ maxLength: 20 }), calls: fc.integer({ min: 0, max: 4 }) }), {
  minLength: 1,
  maxLength: 8,
});

describe('a conversation', () => {
  it('runs no tool twice and answers every call, whatever the replies and wherever a replica dies', () => {
    fc.assert(
      fc.property(replies, fc.array(fc.boolean(), { maxLength: 60 }), (said, deaths) => {
        const world = new World([...said, { content: 'the end', calls: 0 }]);
        const state = world.run(specOf(), (step) => deaths[step] === true);
        expect(new Set(world.ran).size).toBe(world.ran.length);
        const called = state.messages.flatMap((message) =>
          message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [],
        );
        const answered = state.messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []));
        expect(answered).toEqual(called);
        expect(state.result?.phase).toBe('completed');
        expect(state.result?.tool_calls).toBe(world.ran.length);
      }),
      { numRuns: 300 },
    );
  });

  it('decides the same from the same records in every process', () => {
    fc.assert(
      fc.property(replies, (said) => {
        const quiet = new World([...said, { content: 'the end', calls: 0 }]);
        const restless = new World([...said, { content: 'the end', calls: 0 }]);
        quiet.run(specOf());
        restless.run(specOf(), () => true);
        expect(restless.records).toEqual(quiet.records);
      }),
      { numRuns: 100 },
    );
  });

  it('DISPATCH-20 counts the calls that ran, and no refused one', () => {
    const world = new World([
      { content: '', calls: 3 },
      { content: 'ok', calls: 0 },
    ]);
    const state = world.run(specOf({ max_tool_calls: 2 }));
    expect(world.ran).toHaveLength(2);
    expect(state.result).toMatchObject({ phase: 'completed', tool_calls: 2, output: 'ok' });
    expect(state.messages.filter(({ role }) => role === 'tool').at(-1)?.content).toContain('ToolCallsExceeded');
  });

  it.each([
    [0, 0],
    [1, 1],
    [2, 2],
    [3, 2],
  ])('lets %i of two calls run by max_tool_calls', (most, ran) => {
    const world = new World([
      { content: '', calls: 2 },
      { content: 'ok', calls: 0 },
    ]);
    world.run(specOf({ max_tool_calls: most }));
    expect(world.ran).toHaveLength(ran);
  });

  it.each([
    [{ max_tool_calls: 5, max_iterations: 1 }, {}, 0, 22],
    [{ max_tool_calls: 0, max_iterations: 1 }, {}, 0, 12],
    [{ max_tool_calls: 1_000, max_iterations: 1 }, { max_calls: 2 }, 0, 16],
    [{}, {}, 0, 230],
    [{ max_tool_calls: 5, max_iterations: 1 }, {}, 3, 25],
  ])('§11 %j with %j and %i sayings of the pod asks no more than %i questions where each call is refused', (...row) => {
    const [execution, security, sayings, most] = row;
    const state = emptyState();
    const say = (record: NewRecord): void => fold(state, { ...record, at } as ConversationRecord);
    say({ kind: 'started', agent_id: 'a', agent: 'a', version: '1', system: 's', input: 'i', model: 'm' });
    say({ kind: 'iteration_started', iteration: 1, action: 'generate' });
    for (let key = 0; key < sayings; key += 1) say({ kind: 'pod_said', key: `${key}`, iteration: 1, texts: ['x'] });
    let effect = next(state, specOf(execution), security);
    for (; effect.kind !== 'end'; effect = next(state, specOf(execution), security)) {
      if (effect.kind === 'call_tool') {
        const { id, name } = effect.call;
        say({ kind: 'tool_ended', call_id: id, tool: name, content: 'ToolNotFound', is_error: true, ran: false });
        continue;
      }
      say({ kind: 'model_asked', iteration: 1, call: state.modelCalls + 1 });
      // A driver that begins here asks the last question again.
      expect(next(state, specOf(execution), security).kind).toBe('ask_model');
      const calls = [{ id: `call_${state.modelCalls}`, name: 'fs.raed', arguments: '{}' }];
      const reply = { content: '', tool_calls: calls, stop: 'tool_calls', provider: 'p', model: 'm' } as const;
      say({ kind: 'model_replied', ...reply, input_tokens: 1, output_tokens: 1 });
    }
    expect(state.modelCalls).toBe(most);
    expect(effect.result).toMatchObject({
      reason: 'QuestionsExceeded',
      message: expect.stringContaining(`asked ${most} times`),
    });
  });

  it('AMB-195 max_calls of the SecurityContext bounds the calls as well', () => {
    const state = emptyState();
    const calls = [{ id: 'call_1_0', name: 'fs.read', arguments: '{}' }];
    const reply = { content: '', tool_calls: calls, stop: 'tool_calls', provider: 'p', model: 'm' } as const;
    fold(state, { kind: 'started', agent_id: 'a', agent: 'a', version: '1', system: 's', input: 'i', model: 'm', at });
    fold(state, { kind: 'iteration_started', iteration: 1, action: 'generate', at });
    fold(state, { kind: 'model_replied', ...reply, input_tokens: 1, output_tokens: 1, at });
    expect(next(state, specOf(), { max_calls: 0 })).toMatchObject({
      kind: 'call_tool',
      refusal: expect.any(String) as string,
    });
    expect(next(state, specOf(), { max_calls: 1 })).not.toHaveProperty('refusal');
    expect(next(state, specOf())).not.toHaveProperty('refusal');
  });

  it.each([
    [1, 'failed', 1],
    [2, 'completed', 2],
    [3, 'completed', 2],
  ])('with max_iterations %i and a second answer that is good ends %s', (most, phase, iterations) => {
    const world = new World(
      [
        { content: 'a', calls: 0 },
        { content: 'b', calls: 0 },
      ],
      [0.2, 0.8],
    );
    const { result } = world.run(specOf({ max_iterations: most, validation: { threshold: 0.5 } }));
    expect(result).toMatchObject({ phase, iterations });
  });

  it('ends with the last answer and its score where none was accepted', () => {
    const world = new World([{ content: 'a', calls: 0 }], [0.2]);
    const { result } = world.run(specOf({ max_iterations: 1, validation: { threshold: 0.5 } }));
    expect(result).toMatchObject({ reason: 'NotAccepted', output: 'a', score: 0.2 });
    expect(result?.message).toMatch(
      /^none of 1 answers was accepted \(max_iterations\); the last one has the score 0\.2, below the validation\.threshold 0\.5: /,
    );
  });

  it.each([
    [0.49, false],
    [0.5, true],
    [0.51, true],
  ])('accepts a score of %f at a threshold of 0.5: %s', (score, isAccepted) => {
    const world = new World([{ content: 'a', calls: 0 }], [score]);
    const { result } = world.run(specOf({ max_iterations: 1, validation: { threshold: 0.5 } }));
    expect(result?.phase).toBe(isAccepted ? 'completed' : 'failed');
  });

  it('gives the words of the judge to the agent with the next iteration', () => {
    const world = new World([{ content: 'a', calls: 0 }], [0.1, 1]);
    const { messages } = world.run(specOf({ validation: { threshold: 0.5 } }));
    expect(messages.filter(({ role }) => role === 'user').at(-1)?.content).toContain('worth 0.1');
  });

  it('asks again for an answer that was cut or that breaks output_schema', () => {
    const schema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
    const world = new World([
      { content: '{"n":', calls: 0, stop: 'length' },
      { content: '{"n":"x"}', calls: 0 },
      { content: '{"n":1}', calls: 0 },
    ]);
    const { result, messages } = world.run(specOf({}, { output_schema: schema }));
    expect(result).toMatchObject({ phase: 'completed', output: '{"n":1}', iterations: 3 });
    const feedback = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(feedback[1]).toContain('was cut');
    expect(feedback[2]).toContain('answer.n');
  });

  it.each([
    [174_762, true],
    [174_763, false],
  ])('accepts an answer of %i characters of three bytes: %s', (length, isAccepted) => {
    const world = new World([{ content: '€'.repeat(length), calls: 0 }]);
    const { result } = world.run(specOf({ max_iterations: 1 }));
    expect(result?.phase).toBe(isAccepted ? 'completed' : 'failed');
  });

  it('clamps the answer to the tokens that remain, and ends when none do', () => {
    const world = new World([{ content: '', calls: 1, tokens: 60 }]);
    const { result } = world.run(specOf({ max_tokens: 200 }));
    expect(result).toMatchObject({ phase: 'failed', reason: 'BudgetExceeded' });
    expect(world.asked.length).toBeGreaterThan(1);
    for (const [index, most] of world.asked.entries()) expect(most).toBeLessThanOrEqual(200 - index * 70);
  });

  it('ends when the cost is used up', () => {
    const world = new World([{ content: '', calls: 1 }]);
    const { result } = world.run(specOf({ max_cost_usd: 0.75, max_tool_calls: 100 }));
    expect(result).toMatchObject({ phase: 'failed', reason: 'BudgetExceeded', cost_usd: 0.75 });
  });

  it.each([
    ['max_cost_usd', { max_cost_usd: 1 }, 3],
    ['max_tokens', { max_tokens: 100 }, 4],
  ])('asks no judge of tool calls beyond %s', (_budget, budget, verdicts) => {
    const world = new World([{ content: '', calls: 50 }]);
    const { result } = world.run(specOf({ ...budget, tool_validation: { enabled: true }, max_tool_calls: 100 }));
    expect(result).toMatchObject({ phase: 'failed', reason: 'BudgetExceeded' });
    expect(world.judged).toHaveLength(verdicts);
    expect(world.ran).toHaveLength(verdicts);
  });

  it.each([
    ['max_cost_usd', { max_cost_usd: 0.25 }],
    ['max_tokens', { max_tokens: 90 }],
  ])('asks no judge of the answer beyond %s', (_budget, budget) => {
    const world = new World([{ content: 'a'.repeat(300), calls: 0 }], [1]);
    const { result } = world.run(specOf({ ...budget, validation: { threshold: 0.5 } }));
    expect(result).toMatchObject({ phase: 'failed', reason: 'BudgetExceeded' });
    expect(world.judged).toEqual([]);
  });

  it('clamps the verdicts of judges to the tokens that remain', () => {
    const world = new World([
      { content: '', calls: 1 },
      { content: 'b', calls: 0 },
    ]);
    world.run(specOf({ max_tokens: 300, tool_validation: { enabled: true }, validation: { threshold: 0.5 } }));
    expect(world.judged).toHaveLength(2);
    const [call, answer] = world.judged;
    expect(call).toBeLessThanOrEqual(280);
    expect(call).toBeGreaterThan(200);
    expect(answer).toBeLessThanOrEqual(240);
    expect(answer).toBeGreaterThan(200);
  });

  it('ends a conversation that has grown too large', () => {
    const world = new World([{ content: 'x'.repeat(262_144), calls: 1 }]);
    const { result } = world.run(specOf({ max_tool_calls: 1_000 }));
    expect(result).toMatchObject({ phase: 'failed', reason: 'ConversationTooLarge' });
  });

  it('AMB-006 takes score and confidence from the JSON of the answer, and nothing out of range', () => {
    const score = (content: string) => new World([{ content, calls: 0 }]).run(specOf()).result;
    expect(score('{"score":0.4,"confidence":1}')).toMatchObject({ score: 0.4, confidence: 1 });
    expect(score('```json\n{"score":0}\n```')).toMatchObject({ score: 0 });
    expect(score('{"score":1.01,"confidence":"1"}')).not.toHaveProperty('score');
    expect(score('{"score":1.01,"confidence":"1"}')).not.toHaveProperty('confidence');
    expect(score('score: 1')).not.toHaveProperty('score');
  });
});

describe('the messages for a model', () => {
  const message = fc.oneof(
    fc.record({ role: fc.constant('user' as const), content: fc.string({ maxLength: 200 }) }),
    fc.integer({ min: 1, max: 3 }).map((calls) => ({ role: 'calls' as const, calls })),
  );
  const conversation = fc.array(message, { maxLength: 20 }).map((parts) => {
    const messages: ModelMessage[] = [
      { role: 'system', content: 'Work.' },
      { role: 'user', content: 'task' },
    ];
    for (const [index, part] of parts.entries()) {
      if (part.role === 'user') messages.push(part);
      else {
        const calls = Array.from({ length: part.calls }, (_, n) => ({
          id: `${index}_${n}`,
          name: 'fs.read',
          arguments: '{}',
        }));
        messages.push({ role: 'assistant', content: '', tool_calls: calls });
        for (const { id } of calls)
          messages.push({ role: 'tool', tool_call_id: id, name: 'fs.read', content: 'y'.repeat(50) });
      }
    }
    return messages;
  });

  it('fit the window, keep the task, and never cut an exchange with a tool', () => {
    fc.assert(
      fc.property(
        conversation,
        fc.integer({ min: 100, max: 2_000 }),
        fc.nat(200),
        (messages, contextWindow, definitions) => {
          const { messages: sent } = fitting(messages, { contextWindow, maxOutputTokens: 10, definitions });
          expect(sent.slice(0, 2)).toEqual(messages.slice(0, 2));
          const called = sent.flatMap((one) =>
            one.role === 'assistant' ? (one.tool_calls ?? []).map(({ id }) => id) : [],
          );
          const answered = sent.flatMap((one) => (one.role === 'tool' ? [one.tool_call_id] : []));
          expect(answered).toEqual(called);
          const size = sent.reduce((sum, one) => sum + sizeOf(one), 0);
          const whole = messages.reduce((sum, one) => sum + sizeOf(one), 0);
          const fits = whole + definitions <= (contextWindow * 0.9 - 10) * 3;
          expect(fits ? sent : messages).toEqual(messages);
          expect(size).toBeLessThan(whole + (fits ? 1 : 200));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('leave room for the definitions of tools, at the boundary', () => {
    const exchange = (content: string): ModelMessage => ({ role: 'user', content });
    const messages = [exchange('Work.'), exchange('task'), exchange('first'), exchange('second')];
    const contextWindow = 1_000;
    const room = (contextWindow * 0.9 - 100) * 3 - sizeOfAll(messages);
    const sent = (definitions: number) =>
      fitting(messages, { contextWindow, maxOutputTokens: 100, definitions }).messages;
    expect(sent(room - 1)).toEqual(messages);
    expect(sent(room)).toEqual(messages);
    expect(sent(room + 1).map(({ content }) => content)).toEqual(['Work.', 'task', expect.any(String), 'second']);
  });

  it.each([
    ['one unit of room', 2_699, false],
    ['none', 2_700, true],
    ['less than none', 2_701, true],
  ])('are crowded out by what the model reads beside them, at the boundary: %s', (_what, definitions, isCrowded) => {
    const said = (content: string): ModelMessage => ({ role: 'user', content });
    const window = { contextWindow: 1_100, maxOutputTokens: 90, definitions };
    const task = [said('Work.'), said('task')];
    expect(fitting(task, window)).toEqual({ messages: task, leftOut: 0, isCrowded });
    expect(fitting([...task, said('first'), said('second'), said('third')], window)).toMatchObject({ leftOut: 2 });
    expect(fitting(task, { ...window, contextWindow: undefined }).isCrowded).toBe(false);
  });

  it('say what takes the context, and which fields change that', () => {
    expect(crowdedBy('default', { contextWindow: 1_100, maxOutputTokens: 90, definitions: 2_701 })).toMatch(
      /^no room .* context_window of the alias default is 1100 tokens, its answer may take 90, .* about 901; .* spec\.tools, or lower max_output_tokens or raise context_window /,
    );
  });
});
