import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Answer, type ModelServer, openModelServer } from '../../test/support/model-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { callArguments } from './call-arguments.ts';
import { createModels } from './create-models.ts';
import type { ModelRequest } from './models.ts';

describe('the chat API of Ollama', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await openModelServer();
  });
  afterAll(() => server.close());

  function ask(messages: ModelRequest['messages'], request: Partial<ModelRequest> = {}) {
    const provider = { name: 'p', type: 'ollama', endpoint: server.url, models: [{ alias: 'default', model: 'm' }] };
    const spec = { llm_providers: [provider], llm_selection: { max_retries: 0 } };
    const made = createModels(
      { clock: createManualClock(), logger: silentLogger, random: () => 0 },
      readNodeConfig(JSON.stringify({ spec }), {}),
    );
    const { signal } = new AbortController();
    return made.ask({ alias: 'default', tenant: 'a', messages, tools: [], signal, ...request });
  }

  const stream =
    (...lines: readonly unknown[]): Answer =>
    (response) => {
      const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(text);
    };
  const done = { message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop' };
  const say = (message: object): object => ({ message: { role: 'assistant', ...message }, done: false });
  const user = { role: 'user', content: 'hi' } as const;
  const outputSchema = { type: 'object' };
  const tools = [{ name: 'fs.read', description: 'Reads.', input_schema: { type: 'object' } }];

  it('LLM-05 is asked without a key, with names of tools and arguments as objects', async () => {
    server.answerWith(stream(say({ content: 'ok' }), done));
    await ask([
      { role: 'system', content: 'One.' },
      user,
      { role: 'assistant', content: '', tool_calls: [{ id: 'c1', name: 'fs.read', arguments: '{"path":"/a"}' }] },
      { role: 'tool', tool_call_id: 'c1', name: 'fs.read', content: 'eleven' },
    ]);
    const [request] = server.requests;
    expect(request?.headers.authorization).toBeUndefined();
    expect(request?.body).toEqual({
      model: 'm',
      stream: true,
      options: { num_predict: 8_192 },
      messages: [
        { role: 'system', content: 'One.' },
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ function: { name: 'fs_read', arguments: { path: '/a' } } }],
        },
        { role: 'tool', content: 'eleven', tool_name: 'fs_read' },
      ],
    });
  });

  it('is held to a schema where it has no tools', async () => {
    server.answerWith(stream(say({ content: '{}' }), done));
    await ask([user], { outputSchema });
    await ask([user], { outputSchema, tools });
    expect(server.requests.map(({ body }) => body.format)).toEqual([outputSchema, undefined]);
  });

  it('takes arguments as an object or a text, and none as an empty object', async () => {
    const calls = [{ path: '/a' }, '{"path":"/b"}', undefined].map((value) => ({
      function: { name: 'fs_read', arguments: value },
    }));
    server.answerWith(stream(say({ content: '', tool_calls: calls }), done));
    const reply = await ask([user], { tools });
    expect(reply.tool_calls).toEqual([
      { id: 'call_1_0', name: 'fs.read', arguments: '{"path":"/a"}' },
      { id: 'call_1_1', name: 'fs.read', arguments: '{"path":"/b"}' },
      { id: 'call_1_2', name: 'fs.read', arguments: '{}' },
    ]);
  });

  it.each([64, 65, 20_000])('gives arguments of %i levels so that they are refused beyond 64', async (levels) => {
    const args = `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const call = `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"fs_read","arguments":${args}}}]},"done":false}`;
    server.answerWith(stream(call, done));
    const { tool_calls: calls } = await ask([user], { tools });
    const read = callArguments(calls[0]?.arguments ?? '');
    expect(JSON.stringify(read)).toBe(levels > 64 ? undefined : args);
  });

  it('has failed where it ends its answer by an error that is nested deeply', async () => {
    server.answerWith(stream(`{"error":{"message":"no","at":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`));
    const message = 'the provider p failed within its answer: no';
    await expect(ask([user])).rejects.toMatchObject({ failure: 'ProviderUnavailable', message });
  });

  it('takes a last line without a line break', async () => {
    server.answerWith(stream(say({ content: 'ok' }), done));
    expect((await ask([user])).content).toBe('ok');
  });

  it.each([
    ['sent a line that is no JSON object', ['7']],
    ['sent a line that is no JSON object', [say({ content: 'a' }), '{"message": ']],
    ['sent tool calls that are no list', [say({ tool_calls: 'x' })]],
    ['sent a tool call without a usable name', [say({ tool_calls: [{}] }), done]],
    ['sent content that is no text', [say({ content: 7 })]],
    ['sent a stream without an answer', []],
  ])('is malformed where it %s', async (what, lines) => {
    server.answerWith(stream(...lines));
    await expect(ask([user])).rejects.toMatchObject({ failure: 'MalformedReply', message: `the provider p ${what}` });
  });
});
