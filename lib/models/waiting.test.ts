import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Dialect, dialects, say } from '../../test/support/model-dialects.ts';
import { type Answer, type ModelServer, openModelServer, refuse } from '../../test/support/model-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { createModels } from './create-models.ts';
import { modelLimits } from './limits.ts';
import type { ModelRequest } from './models.ts';

const [openai] = dialects as readonly [Dialect];
const ok = say(openai, { pieces: ['ok'] });

describe('requests that wait for a provider', () => {
  const servers: Record<'one' | 'two', ModelServer> = {} as never;
  beforeAll(async () => {
    for (const name of ['one', 'two'] as const) servers[name] = await openModelServer();
  });
  afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())));

  /** Providers of one request at a time. */
  function world(names: readonly ('one' | 'two')[], selection: object = {}) {
    const clock = createManualClock();
    const providers = names.map((name) => ({
      name,
      type: 'openai',
      api_key: 'env:KEY',
      endpoint: `${servers[name].url}/v1`,
      models: [{ alias: 'default', model: 'm' }],
      max_concurrency: 1,
    }));
    const spec = { llm_providers: providers, llm_selection: { max_retries: 0, ...selection } };
    const config = readNodeConfig(JSON.stringify({ spec }), { KEY: 'sk-1' });
    const models = createModels({ clock, logger: silentLogger, random: () => 0 }, config);
    /** The provider that answered, or the name of the error. */
    const outcome = (request: Partial<ModelRequest> = {}): Promise<string> =>
      models
        .ask({
          alias: 'default',
          tenant: 'a',
          messages: [{ role: 'user', content: 'hi' }],
          tools: [],
          signal: new AbortController().signal,
          ...request,
        })
        .then(
          ({ provider }) => provider,
          (error: unknown) => (error instanceof Error ? error.name : String(error)),
        );
    return { outcome, clock };
  }

  /** An answer that is held until it is released. */
  function held(): { readonly answer: Answer; readonly release: () => void } {
    const open: (() => void)[] = [];
    return {
      answer: (response, request) => void open.push(() => ok(response, request)),
      release: () => {
        for (const release of open.splice(0)) release();
      },
    };
  }

  it('have all of their time when their turn comes', async () => {
    const { answer, release } = held();
    servers.one.answerWith(answer, ok);
    const { outcome, clock } = world(['one']);
    const first = outcome();
    await servers.one.came(1);
    const judge = outcome({ withinMs: 30_000 });
    await clock.advance(60_000);
    release();
    expect([await first, await judge]).toEqual(['one', 'one']);
  });

  it('say that they wait, for which provider, and whether it rests', async () => {
    const { answer, release } = held();
    servers.one.answerWith(answer, ok);
    const { outcome } = world(['one']);
    const first = outcome();
    await servers.one.came(1);
    const heard: unknown[] = [];
    const onWait: ModelRequest['onWait'] = ({ provider, isResting }) => {
      heard.push([provider, isResting()]);
      const over = new DisposableStack();
      over.defer(() => void heard.push('over'));
      return over;
    };
    const second = outcome({ onWait });
    await vi.waitFor(() => expect(heard).toEqual([['one', false]]));
    release();
    expect([await first, await second]).toEqual(['one', 'one']);
    expect(heard).toEqual([['one', false], 'over']);
  });

  it('say that they wait while the provider has a pause', async () => {
    servers.one.answerWith(refuse(503), ok);
    const { outcome, clock } = world(['one'], { max_retries: 1, retry_delay_ms: 1_000 });
    const heard: boolean[] = [];
    const asked = outcome({
      onWait: ({ isResting }) => {
        heard.push(isResting());
        return new DisposableStack();
      },
    });
    await vi.waitFor(async () => {
      await clock.advance(1_000);
      expect(heard).toEqual([false, true, false]);
    });
    expect(await asked).toBe('one');
  });

  it('end when the time from their turn on is over, which is no failure of the provider', async () => {
    const { outcome, clock } = world(['one']);
    for (let count = 0; count < modelLimits.breakerFailures; count++) {
      servers.one.answerWith(held().answer);
      const asked = outcome({ withinMs: 30_000 });
      await servers.one.came(1);
      await clock.advance(30_000);
      expect(await asked).toBe('TimeoutError');
    }
    servers.one.answerWith(ok);
    expect(await outcome()).toBe('one');
  });

  it('are not sent again after a pause that takes the rest of their time', async () => {
    servers.one.answerWith(refuse(429, {}, { 'retry-after': '30' }), ok);
    const { outcome } = world(['one'], { max_retries: 2 });
    expect(await outcome({ withinMs: 30_000 })).toBe('ModelError');
    expect(servers.one.requests).toHaveLength(1);
  });

  it('LLM-15 leave a busy provider for the next one after five seconds', async () => {
    const { answer, release } = held();
    servers.one.answerWith(answer);
    servers.two.answerWith(ok);
    const { outcome, clock } = world(['one', 'two'], { strategy: 'failover' });
    const first = outcome();
    await servers.one.came(1);
    const second = outcome();
    await clock.advance(4_999);
    expect(servers.two.requests).toHaveLength(0);
    await clock.advance(1);
    expect(await second).toBe('two');
    release();
    expect(await first).toBe('one');
  });

  it('wait for a busy provider where the others fail', async () => {
    const { answer, release } = held();
    servers.one.answerWith(answer, ok);
    servers.two.answerWith(refuse(503));
    const { outcome, clock } = world(['one', 'two'], { strategy: 'failover' });
    const first = outcome();
    await servers.one.came(1);
    const second = outcome();
    await clock.advance(5_000);
    await servers.two.came(1);
    release();
    expect([await first, await second]).toEqual(['one', 'one']);
  });

  it('wait for a busy provider that served their execution before', async () => {
    const { answer, release } = held();
    servers.one.answerWith(answer, ok);
    servers.two.answerWith(ok);
    const { outcome, clock } = world(['one', 'two'], { strategy: 'failover' });
    const first = outcome();
    await servers.one.came(1);
    const second = outcome({ provider: 'one' });
    await clock.advance(modelLimits.requestMs - 1);
    release();
    expect([await first, await second]).toEqual(['one', 'one']);
  });
});
