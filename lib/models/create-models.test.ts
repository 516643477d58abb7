import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Dialect, dialects, say } from '../../test/support/model-dialects.ts';
import { type Answer, hangUp, type ModelServer, openModelServer, refuse } from '../../test/support/model-server.ts';
import { createLogger } from '../logger.ts';
import { type NodeConfig, readNodeConfig } from '../node-config/index.ts';
import { createModels, waitBefore } from './create-models.ts';
import { modelLimits } from './limits.ts';
import { ModelError, type ModelRequest } from './models.ts';

const key = 'sk-hunter2-hunter2';
const [openai, , ollama] = dialects as readonly [Dialect, Dialect, Dialect];

const ok = say(openai, { pieces: ['ok'] });
const busy = refuse(503);

/** Three servers: two in the cloud, and one of one's own. */
describe('createModels', () => {
  const servers: Record<'one' | 'two' | 'home', ModelServer> = {} as never;
  beforeAll(async () => {
    for (const name of ['one', 'two', 'home'] as const) servers[name] = await openModelServer();
  });
  afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())));

  const model = (alias: string, fields: object = {}): object => ({ alias, model: `${alias}-model`, ...fields });
  const cloud = (name: 'one' | 'two', ...models: object[]): object => ({
    name,
    type: 'openai',
    api_key: 'env:KEY',
    endpoint: `${servers[name].url}/v1`,
    models: models.length > 0 ? models : [model('default')],
  });
  const home = (...models: object[]): object => ({
    name: 'home',
    type: 'ollama',
    endpoint: servers.home.url,
    models: models.length > 0 ? models : [model('default')],
  });
  const configOf = (providers: readonly object[], selection: object, prices: object): NodeConfig =>
    readNodeConfig(JSON.stringify({ spec: { llm_providers: providers, llm_selection: selection, prices } }), {
      KEY: key,
    });

  function world(providers: readonly object[], selection: object = {}, prices: object = {}) {
    const lines: string[] = [];
    const clock = createManualClock();
    const registry = new Registry();
    const destination = { write: (line: string) => void lines.push(line) };
    const logger = createLogger({ level: 'debug', service: 'test', destination });
    const config = configOf(providers, { max_retries: 0, ...selection }, prices);
    const models = createModels({ clock, logger, random: () => 0, registry }, config);
    const ask = (request: Partial<ModelRequest> = {}) =>
      models.ask({
        alias: 'default',
        tenant: 'a',
        messages: [{ role: 'user', content: 'hi' }],
        tools: [],
        signal: new AbortController().signal,
        ...request,
      });
    /** The provider that answered, or the failure. */
    const outcome = (request?: Partial<ModelRequest>): Promise<string> =>
      ask(request).then(
        ({ provider }) => provider,
        (error: unknown) => (error instanceof ModelError ? error.failure : String(error)),
      );
    return { ask, outcome, clock, lines, registry, models };
  }

  type World = ReturnType<typeof world>;

  const answer = (answers: Partial<Record<'one' | 'two' | 'home', Answer>>): void => {
    servers.one.answerWith(answers.one ?? ok);
    servers.two.answerWith(answers.two ?? ok);
    servers.home.answerWith(answers.home ?? say(ollama, { pieces: ['ok'] }));
  };
  const asked = () => [servers.one, servers.two, servers.home].map(({ requests }) => requests.length);

  describe('prefer-local', () => {
    const strategy = { strategy: 'prefer-local', default_provider: 'two' };

    it('LLM-13 asks the local provider that defines the alias, whatever the default', async () => {
      answer({});
      const { outcome } = world([cloud('one'), cloud('two'), home()], strategy);
      expect([await outcome(), await outcome()]).toEqual(['home', 'home']);
    });

    it('LLM-13 asks a cloud where no local provider defines the alias, the default first', async () => {
      answer({});
      const providers = [cloud('one', model('default'), model('fast')), cloud('two'), home(model('local'))];
      const { outcome } = world(providers, strategy);
      expect(await outcome()).toBe('two');
      expect(await outcome({ alias: 'fast' })).toBe('one');
    });

    it('LLM-13 asks one cloud alone where there is no local provider, also where that fails', async () => {
      answer({ two: refuse(500) });
      const { outcome } = world([cloud('one'), cloud('two')], strategy);
      expect(await outcome()).toBe('ProviderUnavailable');
      expect(asked()).toEqual([0, 1, 0]);
    });

    it('LLM-13 never sends to a cloud what was meant for a local provider', async () => {
      answer({ home: refuse(500) });
      const { outcome } = world([cloud('one'), cloud('two'), home()], strategy);
      expect(await outcome()).toBe('ProviderUnavailable');
      expect(asked()).toEqual([0, 0, 1]);
    });
  });

  describe('round-robin', () => {
    const strategy = { strategy: 'round-robin' };

    it('LLM-14 spreads requests over the providers that define the alias', async () => {
      answer({});
      const providers = [cloud('one', model('default'), model('fast')), cloud('two'), home(model('local'))];
      const { outcome } = world(providers, strategy);
      const served: string[] = [];
      for (let count = 0; count < 5; count++) served.push(await outcome());
      expect(served).toEqual(['one', 'two', 'one', 'two', 'one']);
      expect(await outcome({ alias: 'fast' })).toBe('one');
      expect(await outcome()).toBe('two');
    });

    it('LLM-14 LLM-19 counts no request of an execution that has its provider', async () => {
      answer({});
      const { outcome } = world([cloud('one'), cloud('two')], strategy);
      const first = await outcome();
      await outcome({ provider: first });
      expect([first, await outcome()]).toEqual(['one', 'two']);
    });

    it('LLM-14 leaves out a provider that is known to be away', async () => {
      answer({ one: hangUp });
      const { outcome } = world([cloud('one'), cloud('two')], strategy);
      for (let count = 0; count < 10; count++) await outcome();
      expect(asked()).toEqual([5, 5, 0]);
      expect([await outcome(), await outcome(), await outcome()]).toEqual(['two', 'two', 'two']);
    });
  });

  describe('failover', () => {
    const strategy = { strategy: 'failover', default_provider: 'two' };

    it('LLM-15 asks the default provider, and another one on an error alone', async () => {
      answer({});
      const { outcome } = world([cloud('one'), cloud('two')], strategy);
      expect([await outcome(), await outcome()]).toEqual(['two', 'two']);
      expect(asked()).toEqual([0, 2, 0]);
      servers.two.answerWith(busy, ok);
      expect([await outcome(), await outcome()]).toEqual(['one', 'two']);
    });

    it('LLM-15 begins with the first provider where the default does not define the alias', async () => {
      answer({});
      const { outcome } = world([cloud('one', model('fast')), cloud('two'), home(model('fast'))], strategy);
      expect(await outcome({ alias: 'fast' })).toBe('one');
    });

    it.each([
      ['401', refuse(401)],
      ['503', refuse(503)],
      ['429', refuse(429)],
      ['a connection that breaks', hangUp],
      ['no answer', ((response) => void response.end('{}\n')) satisfies Answer],
    ])('LLM-15 switches on %s', async (_error, two) => {
      answer({ two });
      expect(await world([cloud('one'), cloud('two')], strategy).outcome()).toBe('one');
    });

    it('does not switch for a conversation that is too long', async () => {
      answer({ two: refuse(413) });
      expect(await world([cloud('one'), cloud('two')], strategy).outcome()).toBe('ContextTooLong');
      expect(asked()).toEqual([0, 1, 0]);
    });

    it('gives the failure of the last provider', async () => {
      answer({ one: refuse(400), two: busy });
      const { ask } = world([cloud('one'), cloud('two')], strategy);
      await expect(ask()).rejects.toThrow('the provider one refused the request with 400: no');
    });
  });

  describe('the provider of an execution', () => {
    it.each(['prefer-local', 'round-robin', 'failover'])('LLM-19 is kept under %s', async (strategy) => {
      answer({});
      const { outcome } = world([cloud('one'), cloud('two'), home()], { strategy, default_provider: 'one' });
      expect([await outcome({ provider: 'two' }), await outcome({ provider: 'two' })]).toEqual(['two', 'two']);
    });

    it('LLM-19 is kept where it fails', async () => {
      answer({ two: busy });
      const { outcome } = world([cloud('one'), cloud('two')], { strategy: 'failover' });
      expect(await outcome({ provider: 'two' })).toBe('ProviderUnavailable');
      expect(asked()).toEqual([0, 1, 0]);
    });

    it('AMB-090 is named where it is gone', async () => {
      const { ask } = world([cloud('one')]);
      await expect(ask({ provider: 'gone' })).rejects.toMatchObject({
        failure: 'ProviderGone',
        message: expect.stringMatching(/provider gone.*alias default/),
      });
    });

    it('AMB-090 names the undefined alias, or the one that the provider does not define', async () => {
      const { ask } = world([cloud('one', model('fast')), cloud('two')]);
      await expect(ask({ alias: 'smart' })).rejects.toMatchObject({
        failure: 'UnknownAlias',
        message:
          'the model alias smart is not defined; defined: default, fast; change spec.runtime.model of the agent, or have an operator add the alias to spec.llm_providers',
      });
      await expect(ask({ alias: 'fast', provider: 'two' })).rejects.toMatchObject({
        failure: 'UnknownAlias',
        message: expect.stringContaining('by the provider two'),
      });
      await expect(ask({ alias: 'fsat', field: 'spec.execution.validation.model' })).rejects.toThrow(
        'the model alias fsat is not defined; did you mean fast?; defined: default, fast; change spec.execution.validation.model',
      );
      await expect(ask({ alias: 'toString' })).rejects.toMatchObject({ failure: 'UnknownAlias' });
    });
  });

  describe('another attempt', () => {
    const retries = 2;
    const selection = { max_retries: retries, retry_delay_ms: 1_000 };

    /** Ends each wait for another attempt as soon as it is announced, until the request has ended. */
    async function ended<T>(asking: Promise<T>, { clock, lines }: Pick<World, 'clock' | 'lines'>): Promise<T> {
      let isOver = false;
      let waited = 0;
      const over = asking.finally(() => {
        isOver = true;
      });
      over.catch(() => undefined);
      while (!isOver) {
        const line = lines[waited];
        await clock.advance(line === undefined ? 0 : Number(JSON.parse(line).waitMs));
        if (line !== undefined) waited += 1;
      }
      return await over;
    }

    it.each([
      [retries - 1, 'one'],
      [retries, 'one'],
      [retries + 1, 'ProviderUnavailable'],
    ])('AMB-091 LLM-16 follows %i failures of at most 2', async (failures, wanted) => {
      servers.one.answerWith(...Array.from({ length: failures }, () => busy), ok);
      const { outcome, clock, lines } = world([cloud('one')], selection);
      expect(await ended(outcome(), { clock, lines })).toBe(wanted);
      expect(servers.one.requests.length).toBe(Math.min(failures, retries) + 1);
      expect(lines.length).toBe(Math.min(failures, retries));
      expect(lines.join()).not.toContain(key);
    });

    it.each([0, 300, 5_000])(
      'LLM-16 waits retry_delay_ms of %i, then twice as long, and at most a fifth more',
      async (ms) => {
        servers.one.answerWith(busy, busy, ok);
        const { outcome, clock, lines } = world([cloud('one')], { ...selection, retry_delay_ms: ms });
        expect(await ended(outcome(), { clock, lines })).toBe('one');
        const waits = lines.map((line) => Number((JSON.parse(line) as { readonly waitMs: number }).waitMs));
        expect(waits).toHaveLength(2);
        for (const [index, wait] of waits.entries()) {
          expect(wait).toBeGreaterThanOrEqual(ms * (index + 1));
          expect(wait).toBeLessThanOrEqual(ms * (index + 1) * 1.2);
        }
      },
    );

    it.each([
      ['429', refuse(429), 3],
      ['500', refuse(500), 3],
      ['503', refuse(503), 3],
      ['599', refuse(599), 3],
      ['a connection that breaks', hangUp, 3],
      ['400', refuse(400), 1],
      ['401', refuse(401), 1],
      ['404', refuse(404), 1],
      ['408', refuse(408), 1],
      ['409', refuse(409), 1],
      ['422', refuse(422), 1],
      ['a page', ((response) => void response.end('<p>')) satisfies Answer, 1],
    ])('AMB-091 follows 429, 5xx and the network alone: %s', async (_status, failure, attempts) => {
      servers.one.answerWith(failure);
      const { outcome, ...rest } = world([cloud('one')], selection);
      await ended(outcome(), rest);
      expect(servers.one.requests.length).toBe(attempts);
    });

    it('waits for what the provider asks for, and within what a caller allows', async () => {
      servers.one.answerWith(refuse(429, {}, { 'retry-after': '30' }), ok);
      const { outcome, clock, lines } = world([cloud('one')], selection);
      const caller = new AbortController();
      expect(await ended(outcome(), { clock, lines })).toBe('one');
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        provider: 'one',
        outcome: 'rate_limited',
        attempt: 1,
        waitMs: 30_000,
      });
      servers.one.answerWith(refuse(429, {}, { 'retry-after': '30' }), ok);
      const waiting = world([cloud('one')], selection);
      const given = waiting.outcome({ signal: caller.signal });
      while (waiting.lines.length === 0) await waiting.clock.advance(0);
      caller.abort('enough');
      expect(await given).toBe('enough');
      expect(servers.one.requests.length).toBe(1);
    });

    it('counts each attempt by its outcome', async () => {
      servers.one.answerWith(busy, refuse(429), ok);
      const { outcome, registry, ...rest } = world([cloud('one')], selection);
      await ended(outcome(), rest);
      const metrics = await registry.metrics();
      for (const name of ['unavailable', 'rate_limited', 'ok']) {
        expect(metrics).toContain(`windlass_model_requests_total{provider="one",outcome="${name}"} 1`);
      }
    });

    it.each([
      [1, 0, undefined, 1_000],
      [2, 0, undefined, 2_000],
      [3, 0, undefined, 4_000],
      [3, 1, undefined, 4_800],
      [1, 0, 999, 1_000],
      [1, 0, 1_001, 1_001],
      [10, 1, undefined, 60_000],
      [1, 0, 3_600_000, 60_000],
    ])('waits before attempt %i with %d by chance and %s asked for', (attempt, chance, after, wanted) => {
      expect(waitBefore(attempt, { delayMs: 1_000, random: () => chance }, after)).toBe(wanted);
    });
  });

  const aliases = ['default', 'fast', 'smart', 'cheap', 'local', 'one-of-our-own'];

  it.each(aliases)('LLM-02 serves the alias %s beside others', async (alias) => {
    answer({});
    const { ask } = world([cloud('one', ...aliases.map((each) => model(each)))]);
    expect(await ask({ alias })).toMatchObject({ provider: 'one', content: 'ok' });
    expect(servers.one.requests[0]?.body.model).toBe(`${alias}-model`);
  });

  it('rests after five failures in a row, and tries again after ten seconds', async () => {
    servers.one.answerWith(busy);
    const { outcome, clock } = world([cloud('one')]);
    for (let count = 0; count < 5; count++) await outcome();
    expect(servers.one.requests.length).toBe(5);
    const asked = [outcome(), outcome()];
    await clock.advance(9_999);
    expect(servers.one.requests.length).toBe(5);
    await clock.advance(1);
    expect(await Promise.race(asked)).toBe('ProviderUnavailable');
    expect(servers.one.requests.length).toBe(6);
    servers.one.answerWith(ok);
    await clock.advance(10_000);
    expect([await outcome(), ...(await Promise.all(asked))]).toEqual(['one', 'ProviderUnavailable', 'one']);
  });

  it('sends no more requests at once than max_concurrency, and lets tenants take turns', async () => {
    const open: (() => void)[] = [];
    const held: Answer = (response, request) => void open.push(() => ok(response, request));
    servers.one.answerWith(held);
    const { ask } = world([{ ...cloud('one'), max_concurrency: 2 }]);
    const order: string[] = [];
    const send = (tenant: string): Promise<unknown> => ask({ tenant }).then(() => order.push(tenant));
    const first = [send('a'), send('b')];
    await servers.one.came(2);
    const later = [send('a'), send('a'), send('c')];
    expect(servers.one.requests.length).toBe(2);
    for (const release of open.splice(0)) release();
    await Promise.all(first);
    await servers.one.came(4);
    expect(open).toHaveLength(2);
    for (const release of open.splice(0)) release();
    await servers.one.came(5);
    for (const release of open.splice(0)) release();
    await Promise.all(later);
    expect(order.slice(2, 4).sort()).toEqual(['a', 'c']);
  });

  it.each([
    [21, 1],
    [22, 2],
    [23, 2],
  ])(
    'issue 12 with tokens_per_minute %i, %i requests of 11 tokens are sent within a minute',
    async (perMinute, most) => {
      const open: (() => void)[] = [];
      servers.one.answerWith((response, request) => void open.push(() => ok(response, request)));
      const entry = { ...cloud('one', model('default', { max_output_tokens: 10 })), tokens_per_minute: perMinute };
      const { ask, clock, registry } = world([entry]);
      const counted = async () =>
        (await registry.getSingleMetric('windlass_model_minute_tokens')?.get())?.values[0]?.value;
      const asks = ['a', 'b', 'c'].map((tenant) => ask({ tenant }));
      await servers.one.came(most);
      expect([await counted(), servers.one.requests.length]).toEqual([11 * most, most]);
      servers.one.answerWith(ok);
      for (const release of open) release();
      for (const one of asks) {
        await one;
        await clock.advance(60_000);
      }
      expect(await counted()).toBe(0);
    },
  );

  it('lets as many requests of one tenant wait as a replica drives conversations, for longer than one request takes', async () => {
    const held: Answer = () => undefined;
    servers.one.answerWith(held);
    const { ask, clock } = world([{ ...cloud('one'), max_concurrency: 1 }]);
    const over = new AbortController();
    const failures: unknown[] = [];
    const asks = Array.from({ length: 1_700 }, () =>
      ask({ signal: over.signal }).catch((error: unknown) => over.signal.aborted || failures.push(error)),
    );
    await servers.one.came(1);
    // The one that was sent is out of time; the next one is sent.
    await clock.advance(modelLimits.requestMs);
    await servers.one.came(2);
    expect(failures).toHaveLength(1);
    over.abort();
    await Promise.all(asks);
  });

  it('gives the limits of an alias', () => {
    const { models } = world([
      cloud('one', model('default', { context_window: 1_000, max_output_tokens: 10 })),
      cloud('two', model('default', { context_window: 500 }), model('fast')),
    ]);
    const [unpriced, fast] = ['default-model', 'fast-model'];
    expect(models.limitsOf('default', 'one')).toEqual({ contextWindow: 1_000, maxOutputTokens: 10, unpriced });
    expect(models.limitsOf('default')).toEqual({ contextWindow: 500, maxOutputTokens: 10, unpriced });
    expect(models.limitsOf('fast')).toEqual({ maxOutputTokens: 8_192, unpriced: fast });
    expect(models.limitsOf('fast', 'one')).toBeUndefined();
    expect(models.limitsOf('absent')).toBeUndefined();
    expect(models.limitsOf('default', 'absent')).toBeUndefined();
  });

  it.each([
    [16_383, 8_191],
    [16_384, 8_192],
    [16_385, 8_192],
    [1, 1],
  ])('LLM-12 leaves half of a window of %i tokens to the conversation: %i for an answer', (contextWindow, most) => {
    const { models } = world([cloud('one', model('default', { context_window: contextWindow }))]);
    expect(models.limitsOf('default')).toMatchObject({ contextWindow, maxOutputTokens: most });
  });

  it('knows the dearest price of an alias, and a model that has none', () => {
    const priced = (name: 'one' | 'two', id: string): object => cloud(name, { alias: 'default', model: id });
    const dear = { input_per_million: 2, output_per_million: 10 };
    const prices = { dear, odd: { input_per_million: 3, output_per_million: 1 } };
    const limitsOf = (second: string, provider?: string) =>
      world([priced('one', 'dear'), priced('two', second)], {}, prices).models.limitsOf('default', provider);
    expect(limitsOf('odd')).toEqual({ maxOutputTokens: 8_192, price: { ...dear, input_per_million: 3 } });
    expect(limitsOf('toString')).toEqual({ maxOutputTokens: 8_192, price: dear, unpriced: 'toString' });
    expect(limitsOf('toString', 'one')).toEqual({ maxOutputTokens: 8_192, price: dear });
  });

  it('LLM-13 takes no limit and no price of a provider that prefer-local never asks', () => {
    const local = home({ alias: 'default', model: 'small', context_window: 4_000 });
    const providers = [cloud('one', { alias: 'default', model: 'unpriced', context_window: 1_000 }), local];
    const prices = { small: { input_per_million: 0, output_per_million: 0 } };
    const limitsOf = (strategy: string) => world(providers, { strategy }, prices).models.limitsOf('default');
    expect(limitsOf('prefer-local')).toMatchObject({ contextWindow: 4_000, price: prices.small });
    expect(limitsOf('prefer-local')).not.toHaveProperty('unpriced');
    expect(limitsOf('failover')).toMatchObject({ contextWindow: 1_000, unpriced: 'unpriced' });
  });

  it('asks nothing for a caller who has given up', async () => {
    answer({});
    const { outcome } = world([cloud('one')]);
    expect(await outcome({ signal: AbortSignal.abort('before') })).toBe('before');
    expect(asked()).toEqual([0, 0, 0]);
  });
});
