import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Dialect, dialects, say } from '../../test/support/model-dialects.ts';
import { type Answer, hangUp, type ModelServer, openModelServer, refuse } from '../../test/support/model-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { createModels } from './create-models.ts';
import { modelLimits } from './limits.ts';
import type { ModelRequest } from './models.ts';

const [openai] = dialects as readonly [Dialect];
const ok = say(openai, { pieces: ['ok'] });
const { breakerFailures, breakerOpenMs } = modelLimits;

describe('questions to a provider that rests', () => {
  const servers: Record<'one' | 'two', ModelServer> = {} as never;
  beforeAll(async () => {
    for (const name of ['one', 'two'] as const) servers[name] = await openModelServer();
  });
  afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())));

  function world(names: readonly ('one' | 'two')[] = ['one'], fields: object = {}) {
    const clock = createManualClock();
    const registry = new Registry();
    const providers = names.map((name) => ({
      name,
      type: 'openai',
      api_key: 'env:KEY',
      endpoint: `${servers[name].url}/v1`,
      models: [{ alias: 'default', model: 'm' }],
      ...fields,
    }));
    const spec = { llm_providers: providers, llm_selection: { max_retries: 0 } };
    const config = readNodeConfig(JSON.stringify({ spec }), { KEY: 'sk-1' });
    const models = createModels({ clock, logger: silentLogger, random: () => 0, registry }, config);
    const answered: string[] = [];
    /** The provider that answered, or the failure. */
    const ask = (tenant: string, request: Partial<ModelRequest> = {}): Promise<string> =>
      models
        .ask({
          alias: 'default',
          tenant,
          messages: [{ role: 'user', content: tenant }],
          tools: [],
          signal: new AbortController().signal,
          ...request,
        })
        .then(
          ({ provider }) => provider,
          (error: unknown) => (error instanceof Error ? error.name : String(error)),
        )
        .then((end) => {
          answered.push(`${tenant} ${end}`);
          return end;
        });
    /** Fails for so many tenants in turn, until all wait. */
    const goAway = async (...tenants: readonly string[]): Promise<void> => {
      servers.one.answerWith(hangUp);
      for (let count = 0; count < breakerFailures; count++) await ask(tenants[count % tenants.length] ?? '');
      servers.one.answerWith(ok);
    };
    return { clock, registry, ask, answered, goAway };
  }

  /** Tenants whose questions the first server was sent, in order. */
  const sentBy = () =>
    servers.one.requests.map(({ body }) => (body['messages'] as { readonly content: string }[])[0]?.content);

  it('wait, and are sent once it answers again', async () => {
    const { clock, ask, answered, goAway } = world();
    await goAway('a', 'b');
    const asked = ['a', 'b', 'c'].map((tenant) => ask(tenant));
    await clock.advance(breakerOpenMs - 1);
    expect([servers.one.requests.length, answered.length]).toEqual([0, breakerFailures]);
    await clock.advance(1);
    expect(await Promise.all(asked)).toEqual(['one', 'one', 'one']);
  });

  it('§11 of other tenants do not wait where the prompts of one tenant alone make it fail', async () => {
    const { clock, ask } = world();
    servers.one.answerWith(refuse(500));
    for (let count = 0; count < breakerFailures; count++) await ask('a');
    servers.one.answerWith(ok);
    const own = ask('a');
    await clock.advance(0);
    expect(await ask('b')).toBe('one');
    expect(sentBy()).toEqual(['b']);
    await clock.advance(breakerOpenMs);
    expect(await own).toBe('one');
  });

  it('§11 are sent where one tenant fails without end and another failed once', async () => {
    const { ask } = world();
    servers.one.answerWith(refuse(500));
    for (let count = 0; count < 2 * breakerFailures; count++) void ask('a');
    await servers.one.came(breakerFailures);
    await ask('b');
    servers.one.answerWith(ok);
    expect(await ask('b')).toBe('one');
  });

  it('are sent with the first byte of the answer to the trial, however long that then lasts', async () => {
    const { clock, ask, goAway } = world();
    await goAway('a', 'b');
    const slow: Answer = (response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('\n');
    servers.one.answerWith(slow, ok);
    const over = new AbortController();
    const trial = ask('a', { signal: over.signal });
    await clock.advance(breakerOpenMs);
    await servers.one.came(1);
    expect(await ask('b')).toBe('one');
    over.abort('enough');
    expect(await trial).toBe('enough');
  });

  it('are tried one each ten seconds, one tenant after the other, where trials are not answered at all', async () => {
    const { clock, ask, goAway } = world();
    await goAway('a', 'b');
    servers.one.answerWith(() => undefined);
    const over = new AbortController();
    const asked = ['a', 'a', 'a', 'b', 'c'].map((tenant) => ask(tenant, { signal: over.signal }));
    for (let trial = 1; trial <= 4; trial++) {
      await clock.advance(breakerOpenMs);
      await servers.one.came(trial);
      expect(servers.one.requests).toHaveLength(trial);
    }
    expect(new Set(sentBy())).toEqual(new Set(['a', 'b', 'c']));
    over.abort('enough');
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['enough']));
  });

  it('§11 are tried at once by others where a tenant waits for a place that it holds itself', async () => {
    const { clock, ask, goAway } = world(['one'], { max_concurrency: 10 });
    const over = new AbortController();
    const streaming: (() => void)[] = [];
    servers.one.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('\n');
      streaming.push(() => response.write(': more\n\n'));
    });
    const share = 8;
    const long = Array.from({ length: share }, () => ask('a', { signal: over.signal }));
    await servers.one.came(share);
    await goAway('b', 'c');
    const asked = [ask('a', { signal: over.signal }), ask('b'), ask('c')];
    expect(servers.one.requests).toHaveLength(0);
    streaming.forEach((write) => write());
    await clock.advance(breakerOpenMs);
    expect(await Promise.all(asked.slice(1))).toEqual(['one', 'one']);
    over.abort('enough');
    expect(new Set(await Promise.all([...long, asked[0]]))).toEqual(new Set(['enough']));
  });

  it('fail by their own trial alone', async () => {
    const { clock, ask, answered, goAway } = world();
    await goAway('a', 'b');
    servers.one.answerWith(hangUp);
    const first = ask('a');
    const second = ask('b');
    answered.length = 0;
    await clock.advance(breakerOpenMs);
    expect(await first).toBe('ModelError');
    await clock.advance(breakerOpenMs - 1);
    expect(answered).toEqual(['a ModelError']);
    servers.one.answerWith(ok);
    await clock.advance(1);
    expect(await second).toBe('one');
  });

  it('end with their callers, and the next one is the trial', async () => {
    const { clock, ask, goAway } = world();
    await goAway('a', 'b');
    const over = new AbortController();
    const first = ask('a', { signal: over.signal });
    const second = ask('b');
    await clock.advance(1_000);
    over.abort('deadline');
    expect(await first).toBe('deadline');
    await clock.advance(breakerOpenMs);
    expect(await second).toBe('one');
  });

  it('wait although they have their turn where it begins to rest meanwhile', async () => {
    const { clock, ask } = world(['one'], { max_concurrency: 1 });
    const open: (() => void)[] = [];
    servers.one.answerWith((response) => void open.push(() => response.destroy()));
    const asked = ['a', 'b', 'c', 'a', 'b', 'c'].map((tenant) => ask(tenant));
    for (let count = 1; count <= breakerFailures; count++) {
      await servers.one.came(count);
      open.splice(0).forEach((end) => end());
    }
    await Promise.race(asked);
    await clock.advance(breakerOpenMs - 1);
    expect(servers.one.requests).toHaveLength(breakerFailures);
    servers.one.answerWith(ok);
    await clock.advance(1);
    expect((await Promise.all(asked)).filter((end) => end === 'one')).toHaveLength(1);
  });

  it('take nothing of the time of a judge', async () => {
    const { clock, ask, goAway } = world();
    await goAway('a', 'b');
    const judge = ask('c', { withinMs: breakerOpenMs / 2 });
    await clock.advance(breakerOpenMs);
    expect(await judge).toBe('one');
  });

  it('LLM-15 are asked of the next provider under failover, without a wait', async () => {
    const { ask } = world(['one', 'two']);
    servers.two.answerWith(ok);
    servers.one.answerWith(hangUp);
    for (const tenant of ['a', 'b', 'a', 'b', 'a', 'c']) expect(await ask(tenant)).toBe('two');
    expect(servers.one.requests).toHaveLength(breakerFailures);
  });

  it('LLM-15 LLM-19 wait under failover where the others fail, or where it served their execution', async () => {
    const { clock, ask } = world(['one', 'two']);
    servers.two.answerWith(ok);
    servers.one.answerWith(hangUp);
    for (const tenant of ['a', 'b', 'a', 'b', 'a']) await ask(tenant);
    servers.two.answerWith(refuse(503));
    servers.one.answerWith(ok);
    const asked = [ask('c'), ask('d', { provider: 'one' })];
    await servers.two.came(1);
    await clock.advance(breakerOpenMs);
    expect(await Promise.all(asked)).toEqual(['one', 'one']);
  });

  it('are counted while they wait, and their waits when they are over', async () => {
    const { clock, registry, ask, goAway } = world();
    await goAway('a', 'b');
    const waiting = async () =>
      (await registry.getSingleMetric('windlass_model_resting_questions')?.get())?.values[0]?.value;
    const asked = [ask('a'), ask('b')];
    await clock.advance(1_000);
    expect(await waiting()).toBe(2);
    await clock.advance(breakerOpenMs);
    await Promise.all(asked);
    expect(await waiting()).toBe(0);
    expect(await registry.metrics()).toContain('windlass_model_wait_seconds_count{provider="one",limit="rest"}');
  });
});
