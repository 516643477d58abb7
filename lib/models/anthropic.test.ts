import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Answer, type ModelServer, openModelServer } from '../../test/support/model-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { createModels } from './create-models.ts';
import type { ModelRequest } from './models.ts';

describe('the Messages API of Anthropic', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await openModelServer();
  });
  afterAll(() => server.close());

  function ask(messages: ModelRequest['messages'], request: Partial<ModelRequest> = {}) {
    const models = [{ alias: 'default', model: 'm' }];
    const provider = { name: 'p', type: 'anthropic', api_key: 'env:KEY', endpoint: server.url, models };
    const spec = { llm_providers: [provider], llm_selection: { max_retries: 0 } };
    const config = readNodeConfig(JSON.stringify({ spec }), { KEY: 'sk-hunter2' });
    const made = createModels({ clock: createManualClock(), logger: silentLogger, random: () => 0 }, config);
    const { signal } = new AbortController();
    return made.ask({ alias: 'default', tenant: 'a', messages, tools: [], signal, ...request });
  }

  const event = (type: string, fields: object = {}): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const stream =
    (...events: readonly string[]): Answer =>
    (response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''));
  const stop = (reason: string): string => event('message_delta', { delta: { stop_reason: reason } });
  const text = (words: string): string =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } });
  const user = { role: 'user', content: 'hi' } as const;

  it('is sent the system apart, results as blocks of the user, and arguments as objects', async () => {
    server.answerWith(stream(text('ok'), stop('end_turn')));
    const calls = [
      { id: 'c1', name: 'fs.read', arguments: '{"path":"/a"}' },
      { id: 'c2', name: 'fs.read', arguments: 'no json' },
    ];
    await ask([
      { role: 'system', content: 'One.' },
      { role: 'system', content: 'Two.' },
      user,
      { role: 'assistant', content: 'I look.', tool_calls: calls },
      { role: 'tool', tool_call_id: 'c1', name: 'fs.read', content: 'eleven' },
      { role: 'tool', tool_call_id: 'c2', name: 'fs.read', content: '' },
      { role: 'user', content: 'Go on.' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'Well?' },
    ]);
    const [request] = server.requests;
    expect(request?.headers.authorization).toBe('Bearer sk-hunter2');
    expect(request?.body).toEqual({
      model: 'm',
      max_tokens: 8_192,
      stream: true,
      system: 'One.\n\nTwo.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'c1', name: 'fs_read', input: { path: '/a' } },
            { type: 'tool_use', id: 'c2', name: 'fs_read', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'eleven' },
            { type: 'tool_result', tool_use_id: 'c2', content: '' },
            { type: 'text', text: 'Go on.' },
          ],
        },
        { role: 'assistant', content: [{ type: 'text', text: '…' }] },
        { role: 'user', content: [{ type: 'text', text: 'Well?' }] },
      ],
    });
  });

  it('is sent tools with a schema of an object', async () => {
    server.answerWith(stream(text('ok'), stop('end_turn')));
    await ask([user], { tools: [{ name: 'fs.read', description: 'Reads.', input_schema: { required: ['path'] } }] });
    expect(server.requests[0]?.body.tools).toEqual([
      { name: 'fs_read', description: 'Reads.', input_schema: { type: 'object', required: ['path'] } },
    ]);
  });

  it('counts tokens of the cache as input', async () => {
    const usage = { input_tokens: 1, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 1 };
    const end = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } });
    server.answerWith(stream(event('message_start', { message: { model: 'm-2', usage } }), text('ok'), end));
    expect(await ask([user])).toMatchObject({ input_tokens: 321, output_tokens: 9, model: 'm-2' });
  });

  it.each([
    ['end_turn', 'end'],
    ['stop_sequence', 'end'],
    ['max_tokens', 'length'],
    ['something_new', 'end'],
  ])('ends with %s as %s', async (reason, wanted) => {
    server.answerWith(stream(text('ok'), stop(reason)));
    expect((await ask([user])).stop).toBe(wanted);
  });

  it.each([
    ['refusal', 'ProviderRefused'],
    ['model_context_window_exceeded', 'ContextTooLong'],
  ])('fails with %s as %s', async (reason, failure) => {
    server.answerWith(stream(text('ok'), stop(reason)));
    await expect(ask([user])).rejects.toMatchObject({ failure });
  });

  it('leaves out thoughts, and events that it does not know', async () => {
    const thought = event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } });
    server.answerWith(stream(event('toString'), event('later_kind', { x: 1 }), thought, text('ok'), stop('end_turn')));
    expect((await ask([user])).content).toBe('ok');
  });

  it.each([
    ['began an answer without a message', event('message_start')],
    ['began a block without its content', event('content_block_start', { index: 0 })],
    ['sent a piece without its content', event('content_block_delta', { index: 0, delta: 'x' })],
    ['sent an event that is no object', 'event: ping2\ndata: 7\n\n'],
  ])('is malformed where it %s', async (what, broken) => {
    server.answerWith(stream(broken));
    await expect(ask([user])).rejects.toMatchObject({ failure: 'MalformedReply', message: `the provider p ${what}` });
  });
});
