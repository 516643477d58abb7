import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Dialect, dialects, say } from '../../test/support/model-dialects.ts';
import { type Answer, type ModelServer, openModelServer } from '../../test/support/model-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { createModels } from './create-models.ts';
import type { ModelRequest } from './models.ts';

const [openai] = dialects as readonly [Dialect];
const key = 'sk-hunter2';
const outputSchema = { type: 'object', properties: { sum: { type: 'integer' } } };

describe('servers of type openai', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await openModelServer();
  });
  afterAll(() => server.close());

  function ask(fields: object, request: Partial<ModelRequest> = {}) {
    const models = [{ alias: 'default', model: 'gpt/big 1' }];
    const provider = { name: 'p', type: 'openai', api_key: 'env:KEY', models, ...fields };
    const config = readNodeConfig(
      JSON.stringify({ spec: { llm_providers: [provider], llm_selection: { max_retries: 0 } } }),
      { KEY: key },
    );
    const made = createModels({ clock: createManualClock(), logger: silentLogger, random: () => 0 }, config);
    const { signal } = new AbortController();
    const messages = [{ role: 'user', content: 'hi' }] as const;
    return made.ask({ alias: 'default', tenant: 'a', messages, tools: [], signal, ...request });
  }

  it('LLM-07 asks a hosted deployment by its path, its version and its own header', async () => {
    server.answerWith(say(openai, { pieces: ['ok'] }));
    await ask({ endpoint: `${server.url}/`, api_version: '2024-10-21' });
    const [request] = server.requests;
    expect(request?.url).toBe('/openai/deployments/gpt%2Fbig%201/chat/completions?api-version=2024-10-21');
    expect(request?.headers['api-key']).toBe(key);
    expect(request?.headers.authorization).toBeUndefined();
    expect(request?.body).toMatchObject({ max_completion_tokens: 8_192 });
  });

  it('LLM-06 asks any other server below its address, with the name of the limit that these know', async () => {
    server.answerWith(say(openai, { pieces: ['ok'] }));
    await ask({ base_url: `${server.url}/some/v1` });
    const [request] = server.requests;
    expect(request?.url).toBe('/some/v1/chat/completions');
    expect(request?.headers.authorization).toBe(`Bearer ${key}`);
    expect(request?.body).toMatchObject({ max_tokens: 8_192 });
    expect(request?.body).not.toHaveProperty('tools');
    expect(request?.body).not.toHaveProperty('response_format');
  });

  it('holds the model to a schema of the answer', async () => {
    server.answerWith(say(openai, { pieces: ['{}'] }));
    await ask({ base_url: `${server.url}/v1` }, { outputSchema });
    expect(server.requests[0]?.body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: outputSchema, strict: false } },
    });
  });

  const choice = (fields: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, ...fields }] })}\n\n`;
  const stream =
    (...events: readonly string[]): Answer =>
    (response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${events.join('')}data: [DONE]\n\n`);

  it('takes whole calls without an index, an id or arguments', async () => {
    const calls = [{ function: { name: 'a' } }, { function: { name: 'b', arguments: '{"x":1}' } }];
    server.answerWith(stream(choice({ delta: { tool_calls: calls } }), choice({ delta: {}, finish_reason: 'stop' })));
    const reply = await ask({ base_url: `${server.url}/v1` });
    expect(reply.stop).toBe('tool_calls');
    expect(reply.tool_calls).toEqual([
      { id: 'call_1_0', name: 'a', arguments: '{}' },
      { id: 'call_1_1', name: 'b', arguments: '{"x":1}' },
    ]);
  });

  it.each([
    ['content that is no text', choice({ delta: { content: 5 } })],
    ['tool calls that are no list', choice({ delta: { tool_calls: 'x' } })],
    ['a tool call that is no object', choice({ delta: { tool_calls: [1] } })],
    ['arguments of a tool call that are no text', choice({ delta: { tool_calls: [{ function: { arguments: {} } }] } })],
    ['an event that is no object', 'data: 7\n\n'],
  ])('refuses %s', async (what, event) => {
    server.answerWith(stream(event));
    await expect(ask({ base_url: `${server.url}/v1` })).rejects.toMatchObject({
      failure: 'MalformedReply',
      message: `the provider p sent ${what}`,
    });
  });

  it('refuses a call without a name', async () => {
    const calls = [{ index: 0, id: 'c', function: { arguments: '{}' } }];
    server.answerWith(stream(choice({ delta: { tool_calls: calls }, finish_reason: 'tool_calls' })));
    await expect(ask({ base_url: `${server.url}/v1` })).rejects.toMatchObject({ failure: 'MalformedReply' });
  });

  it('says that a filter withheld the answer', async () => {
    server.answerWith(stream(choice({ delta: {}, finish_reason: 'content_filter' })));
    await expect(ask({ base_url: `${server.url}/v1` })).rejects.toMatchObject({ failure: 'ProviderRefused' });
  });

  it.each([8_388_607, 8_388_608, 8_388_609])('takes an event of 8 MiB at most, and is given %i bytes', async (size) => {
    const padding = `: ${'x'.repeat(size - 2)}`;
    server.answerWith(stream(choice({ delta: { content: 'ok' }, finish_reason: 'stop' }), `${padding}\n\n`));
    const outcome = await ask({ base_url: `${server.url}/v1` }).then(
      ({ content }) => content,
      (error: Error) => error.message,
    );
    expect(outcome).toBe(size <= 8_388_608 ? 'ok' : 'the provider p sent one event of more than 8388608 bytes');
  });
});
