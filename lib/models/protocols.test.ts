import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { begin, type Dialect, dialects, say } from '../../test/support/model-dialects.ts';
import {
  type Answer,
  hangUp,
  keepSilent,
  type ModelServer,
  openModelServer,
  refuse,
} from '../../test/support/model-server.ts';
import { createLogger } from '../logger.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { createModels } from './create-models.ts';
import { modelLimits } from './limits.ts';
import { ModelError, type ModelRequest } from './models.ts';

const key = 'sk-hunter2-hunter2';

const tools = [
  { name: 'fs.read', description: 'Reads a file.', input_schema: { type: 'object', properties: { path: {} } } },
  { name: 'fs_read', description: 'Another one.', input_schema: { type: 'object' } },
];

/** A conversation with every kind of message. */
const messages: ModelRequest['messages'] = [
  { role: 'system', content: 'You count.' },
  { role: 'user', content: 'How many?' },
  { role: 'assistant', content: '', tool_calls: [{ id: 'c1', name: 'fs.read', arguments: '{"path":"/a"}' }] },
  { role: 'tool', tool_call_id: 'c1', name: 'fs.read', content: 'eleven' },
  { role: 'assistant', content: 'Eleven.' },
  { role: 'user', content: 'And now?' },
];

describe.each(dialects)('a provider of type $type', (dialect: Dialect) => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await openModelServer();
  });
  afterAll(() => server.close());

  function world(fields: object = {}) {
    const lines: string[] = [];
    const clock = createManualClock();
    const registry = new Registry();
    const logger = createLogger({
      level: 'debug',
      service: 'test',
      destination: { write: (line: string) => void lines.push(line) },
    });
    const provider = {
      name: 'p',
      type: dialect.type,
      endpoint: `${server.url}${dialect.base}`,
      api_key: 'env:KEY',
      models: [{ alias: 'default', model: 'm-1', max_output_tokens: 100, context_window: 4_096, ...fields }],
    };
    const spec = {
      llm_providers: [provider],
      llm_selection: { max_retries: 0 },
      prices: { 'm-1': { input_per_million: 2, output_per_million: 10 } },
    };
    const models = createModels(
      { clock, logger, random: () => 0, registry },
      readNodeConfig(JSON.stringify({ spec }), { KEY: key }),
    );
    const ask = (request: Partial<ModelRequest> = {}) =>
      models.ask({
        alias: 'default',
        tenant: 'a',
        messages,
        tools,
        signal: new AbortController().signal,
        ...request,
      });
    return { ask, clock, lines, registry, models };
  }

  /** The failure of one request, which names the provider and never the key. */
  async function failureOf(answer: Answer, request?: Partial<ModelRequest>): Promise<string> {
    server.answerWith(answer);
    const { ask, lines } = world();
    const error: unknown = await ask(request).catch((reason: unknown) => reason);
    if (!(error instanceof ModelError)) throw error;
    expect(JSON.stringify([error.message, error.stack, lines])).not.toContain(key);
    return `${error.failure}: ${error.message}`;
  }

  it('gives the text in pieces and as a whole, with its tokens and their cost', async () => {
    server.answerWith(say(dialect, { pieces: ['Hel', 'lo, ', 'wörld'], input: 1_000, output: 200 }));
    const { ask, registry } = world();
    const pieces: string[] = [];
    const reply = await ask({ onText: (text) => pieces.push(text) });
    expect(pieces).toEqual(['Hel', 'lo, ', 'wörld']);
    expect(reply).toEqual({
      content: 'Hello, wörld',
      tool_calls: [],
      stop: 'end',
      provider: 'p',
      model: 'served-1',
      input_tokens: 1_000,
      output_tokens: 200,
      cost_usd: 0.004,
    });
    const metrics = await registry.metrics();
    expect(metrics).toContain('windlass_model_requests_total{provider="p",outcome="ok"} 1');
    expect(metrics).toContain('windlass_model_tokens_total{provider="p",direction="input"} 1000');
    expect(metrics).toContain('windlass_model_tokens_total{provider="p",direction="output"} 200');
    expect(metrics).toContain('windlass_model_cost_usd_total{provider="p"} 0.004');
    expect(metrics).toContain('windlass_model_request_seconds_count{provider="p"} 1');
  });

  it('sends the conversation, the key and the most tokens, with tools in names that providers take', async () => {
    server.answerWith(say(dialect, { pieces: ['ok'] }));
    const { ask } = world();
    await ask();
    const [request] = server.requests;
    expect(request?.url).toBe(dialect.path);
    expect(Object.values(request?.headers ?? {}).join(' ')).toContain(key);
    expect(request?.body).toMatchObject({ model: 'm-1', stream: true });
    const text = JSON.stringify(request?.body);
    expect(text).not.toContain('fs.read');
    for (const part of ['You count.', 'How many?', '"fs_read"', '"fs_read_2"', 'eleven', 'Eleven.', 'And now?', '/a']) {
      expect(text).toContain(part);
    }
    const { max_tokens, options } = (request?.body ?? {}) as { max_tokens?: number; options?: object };
    expect(max_tokens ?? options).toEqual(dialect.type === 'ollama' ? { num_predict: 100, num_ctx: 4_096 } : 100);
  });

  it('never asks for more tokens than the model gives, nor than the caller wants', async () => {
    server.answerWith(say(dialect, { pieces: ['ok'] }));
    const { ask } = world();
    await ask({ maxOutputTokens: 99 });
    await ask({ maxOutputTokens: 101 });
    const asked = server.requests.map(({ body }) => {
      const { max_tokens, options } = body as { max_tokens?: number; options?: { num_predict: number } };
      return max_tokens ?? options?.num_predict;
    });
    expect(asked).toEqual([99, 100]);
  });

  it('gives tool calls in our own names, with ids that differ', async () => {
    const calls = [
      { id: 'x1', name: 'fs_read', arguments: '{"path":"/workspace/notes"}' },
      { id: 'x2', name: 'fs_read_2', arguments: '{}' },
      { id: 'x2', name: 'made_up', arguments: '{"a":1}' },
    ];
    server.answerWith(say(dialect, { pieces: ['I look.'], calls, input: 5, output: 7 }));
    const reply = await world().ask();
    expect(reply).toMatchObject({ content: 'I look.', stop: 'tool_calls' });
    expect(reply.tool_calls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual([
      ['fs.read', { path: '/workspace/notes' }],
      ['fs_read', {}],
      ['made_up', { a: 1 }],
    ]);
    const ids = reply.tool_calls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids.every((id) => id !== '')).toBe(true);
  });

  it('says that an answer was cut at the most tokens', async () => {
    server.answerWith(say(dialect, { pieces: ['Half a sen'], isCut: true }));
    expect(await world().ask()).toMatchObject({ content: 'Half a sen', stop: 'length' });
  });

  it('estimates tokens where the provider does not count them', async () => {
    server.answerWith(say(dialect, { pieces: ['12345678'] }));
    const reply = await world().ask({ messages: [{ role: 'user', content: 'x'.repeat(40) }], tools: [] });
    expect(reply).toMatchObject({ input_tokens: 10, output_tokens: 2 });
  });

  it.each([
    [
      400,
      { error: { message: 'bad field' } },
      'ProviderRefused: the provider p refused the request with 400: bad field',
    ],
    [400, { error: 'bad field' }, 'ProviderRefused: the provider p refused the request with 400: bad field'],
    [
      401,
      { error: { message: `wrong key ${key}` } },
      'ProviderRefused: the provider p refused the request with 401: check its api_key',
    ],
    [403, {}, 'ProviderRefused: the provider p refused the request with 403: check its api_key'],
    [
      404,
      { error: { message: `no model for ${key}` } },
      'ProviderRefused: the provider p refused the request with 404: no model for [secret]',
    ],
    [
      400,
      { error: { message: 'maximum context length is 10' } },
      'ContextTooLong: the provider p finds the conversation too long with 400: maximum context length is 10',
    ],
    [400, { error: { message: 'prompt is too long: 10 tokens > 9 maximum' } }, 'ContextTooLong: the provider p finds'],
    [413, {}, 'ContextTooLong: the provider p finds the conversation too long with 413'],
    [429, {}, 'ProviderUnavailable: the provider p limits our requests with 429'],
    [500, { error: { message: 'sorry' } }, 'ProviderUnavailable: the provider p failed with 500: sorry'],
    [529, {}, 'ProviderUnavailable: the provider p failed with 529'],
  ])('takes the status %i with %j', async (status, body, failure) => {
    expect(await failureOf(refuse(status, body))).toContain(failure);
  });

  it('follows no redirect, which would take the key elsewhere', async () => {
    const other = await openModelServer();
    try {
      other.answerWith(say(dialect, { pieces: ['stolen'] }));
      const redirect = refuse(307, {}, { location: `${other.url}${dialect.path}` });
      expect(await failureOf(redirect)).toContain('ProviderRefused: the provider p refused the request with 307');
      expect(other.requests).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('takes a connection that breaks, before an answer or within it, for an outage', async () => {
    expect(await failureOf(hangUp)).toMatch(/^ProviderUnavailable: the provider p cannot be reached: /);
    const speech = { pieces: ['a', 'b', 'c'] };
    expect(await failureOf(begin(dialect, speech, hangUp))).toBe(
      'ProviderUnavailable: the provider p broke off its answer',
    );
    const end: Answer = (response) => void response.end();
    expect(await failureOf(begin(dialect, speech, end))).toBe(
      'ProviderUnavailable: the provider p ended its answer before its end',
    );
  });

  it.each([
    ['overloaded_error', 'ProviderUnavailable'],
    ['rate_limit_error', 'ProviderUnavailable'],
    ['invalid_request_error', 'ProviderRefused'],
    ['context_length_exceeded', 'ContextTooLong'],
  ])('takes the error %s within a stream', async (type, failure) => {
    const error: Answer = (response) => void response.end(dialect.error(type, `because of ${key}`));
    const text = await failureOf(begin(dialect, { pieces: ['a'] }, error));
    expect(text.split(':')[0]).toBe(failure);
    expect(text).toContain('because of [secret]');
  });

  it('takes JSON that is cut, and an answer that is none, as malformed', async () => {
    const garbage: Answer = (response) => void response.end(dialect.garbage);
    expect(await failureOf(begin(dialect, { pieces: ['a'] }, garbage))).toMatch(
      /^MalformedReply: the provider p sent /,
    );
    const page: Answer = (response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>\n<p>welcome</p>\n</html>\n');
    expect(await failureOf(page)).toMatch(/^MalformedReply: the provider p sent /);
  });

  it('writes nothing of an answer that it cannot read to the console', async () => {
    const written: unknown[] = [];
    const kept = globalThis.console;
    const note = (...parts: readonly unknown[]): void => void written.push(...parts);
    globalThis.console = { ...kept, log: note, warn: note, error: note, info: note, debug: note };
    try {
      const garbage: Answer = (response) => void response.end(dialect.garbage);
      await failureOf(begin(dialect, { pieces: ['a'] }, garbage));
      await failureOf((response) => void response.writeHead(500).end('no json'));
    } finally {
      globalThis.console = kept;
    }
    expect(written).toEqual([]);
  });

  it('ends a stream that is silent for a minute', async () => {
    server.answerWith(begin(dialect, { pieces: ['a', 'b', 'c'] }, keepSilent));
    const { ask, clock } = world();
    const first = Promise.withResolvers<void>();
    const asked = ask({ onText: () => first.resolve() }).catch((reason: unknown) => reason);
    await first.promise;
    await clock.advance(modelLimits.idleMs);
    const error = await asked;
    expect(error).toMatchObject({
      failure: 'ProviderUnavailable',
      message: 'the provider p sent nothing for 60 seconds',
    });
  });

  it('ends a request that takes ten minutes', async () => {
    server.answerWith(keepSilent);
    const { ask, clock } = world();
    const asked = ask().catch((reason: unknown) => reason);
    await server.came(1);
    await clock.advance(modelLimits.requestMs);
    expect(await asked).toMatchObject({
      failure: 'ProviderUnavailable',
      message: 'the provider p did not finish its answer within 600 seconds',
    });
  });

  it.each([
    ['before the answer', keepSilent],
    ['within it', begin(dialect, { pieces: ['a', 'b', 'c'] }, keepSilent)],
  ])('ends with the reason of the caller, who gives up %s', async (_when, answer) => {
    server.answerWith(answer);
    const { ask, registry } = world();
    const caller = new AbortController();
    const asked = ask({ signal: caller.signal }).catch((reason: unknown) => reason);
    await server.came(1);
    caller.abort('enough');
    expect(await asked).toBe('enough');
    expect(await registry.metrics()).toContain('windlass_model_requests_total{provider="p",outcome="aborted"} 1');
  });

  it.each([127, 128, 129])('takes 128 tool calls, and is given %i', async (count) => {
    const calls = Array.from({ length: count }, (_, index) => ({ id: `c${index}`, name: 'fs_read', arguments: '{}' }));
    server.answerWith(say(dialect, { calls }));
    const outcome = await world()
      .ask()
      .then(
        (reply) => reply.tool_calls.length,
        (error: Error) => error.message,
      );
    expect(outcome).toBe(count <= 128 ? count : 'the provider p sent more than 128 tool calls');
  });

  it.each([1_048_575, 1_048_576, 1_048_577])('takes content of 1 MiB, and is given %i', async (length) => {
    const pieces = ['x'.repeat(1_000_000), 'y'.repeat(length - 1_000_000)];
    server.answerWith(say(dialect, { pieces }));
    const outcome = await world()
      .ask()
      .then(
        (reply) => reply.content.length,
        (error: Error) => error.message,
      );
    expect(outcome).toBe(length <= 1_048_576 ? length : 'the provider p sent content of more than 1048576 characters');
  });

  it.each([1_048_575, 1_048_576, 1_048_577])('takes arguments of 1 MiB, and is given %i', async (length) => {
    const text = JSON.stringify({ a: 'x'.repeat(length - 8) });
    server.answerWith(say(dialect, { calls: [{ id: 'c', name: 'fs_read', arguments: text }] }));
    const outcome = await world()
      .ask()
      .then(
        (reply) => reply.tool_calls[0]?.arguments.length,
        (error: Error) => error.message,
      );
    expect(outcome).toBe(
      length <= 1_048_576 ? length : 'the provider p sent a tool call with more than 1048576 characters of arguments',
    );
  });
});
