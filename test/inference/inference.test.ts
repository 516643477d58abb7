import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createLogger } from '../../lib/logger.ts';
import { createModels } from '../../lib/models/create-models.ts';
import { ModelError, type ModelMessage, type ModelReply, type ModelRequest } from '../../lib/models/models.ts';
import { readNodeConfig } from '../../lib/node-config/index.ts';
import { type InferenceServer, startInferenceServer } from './inference-server.ts';

/** The server learns the place of a tool call in the text from the template's form of an earlier turn. */
const template = `{%- if tools %}{{- '<tools>' }}{%- for tool in tools %}{{- tool | tojson }}{%- endfor %}{{- '</tools>' }}{%- endif %}
{%- for message in messages %}{{- '<|' + message.role + '|>' }}{%- if message.content %}{{- message.content }}{%- endif %}
{%- if message.tool_calls %}{%- for call in message.tool_calls %}
{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}{{- call.function.arguments | tojson }}{{- '}\\n</tool_call>' }}
{%- endfor %}{%- endif %}{%- endfor %}`;

const call = (name: string, args: object): string =>
  `<tool_call>\n{"name": "${name}", "arguments": ${JSON.stringify(args)}}\n</tool_call>`;

/** Each first word ends a message of the test; a whole tool call is one word, and so is each part of one in pieces. */
const chains = [
  ['!count', 'One,', ' two,', ' thrée.'],
  ['!read', call('fs_read', { path: '/workspace/notes' })],
  [
    '!look',
    'I look.',
    '<tool_call>\n{"name": "fs_read", ',
    '"arguments": {"path": ',
    '"/a \\"b\\""}',
    '}\n</tool_call>',
  ],
  ['!both', call('fs_read', { path: '/x' }), call('fs_read_2', { path: '/y' })],
  ['eleven', 'There are', ' eleven.'],
  ['!forever', ' again', '...'],
];

const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const tools = [
  { name: 'fs.read', description: 'Reads a file.', input_schema: schema },
  { name: 'fs_read', description: 'Reads another one.', input_schema: schema },
];

let server: InferenceServer;
beforeAll(async () => {
  server = await startInferenceServer({ template, chains });
}, 600_000);
afterAll(() => server.stop());

interface Asked {
  readonly reply: ModelReply;
  readonly pieces: readonly string[];
}

describe.each([
  { type: 'openai', base: '/v1' },
  { type: 'anthropic', base: '' },
])('a provider of type $type that is the server of llama.cpp', ({ type, base }) => {
  function models(key = server.key) {
    const model = { alias: 'default', model: 'bigrams', max_output_tokens: 50, context_window: 2_048 };
    const provider = { name: 'real', type, endpoint: server.url + base, api_key: 'env:KEY', models: [model] };
    const spec = { llm_providers: [provider], llm_selection: { max_retries: 0 } };
    const logger = createLogger({ level: 'silent', service: 'test', destination: { write: () => undefined } });
    const deps = { clock: systemClock, logger, random: () => 0 };
    return createModels(deps, readNodeConfig(JSON.stringify({ spec }), { KEY: key }));
  }

  async function ask(said: string | readonly ModelMessage[], more: Partial<ModelRequest> = {}): Promise<Asked> {
    const pieces: string[] = [];
    const messages = typeof said === 'string' ? [{ role: 'user' as const, content: said }] : said;
    const signal = AbortSignal.timeout(60_000);
    const onText = (text: string): void => void pieces.push(text);
    const reply = await models().ask({ alias: 'default', tenant: 'a', messages, tools: [], signal, onText, ...more });
    return { reply, pieces };
  }

  async function failureOf(asked: Promise<unknown>): Promise<ModelError> {
    const error: unknown = await asked.catch((reason: unknown) => reason);
    if (!(error instanceof ModelError)) throw new Error('the request did not fail', { cause: error });
    expect(error.message).not.toContain(server.key);
    return error;
  }

  it('LLM-04 LLM-06 streams the text of a real model as it comes, and says why it ended', async () => {
    const { reply, pieces } = await ask('Please !count');
    expect(pieces).toEqual(['One,', ' two,', ' thrée.']);
    expect(reply).toMatchObject({ content: 'One, two, thrée.', tool_calls: [], stop: 'end', provider: 'real' });
  });

  it('counts the tokens that the server counted, those of a prompt that it had in its cache too', async () => {
    // Ten words of bytes, the beginning, and the marks of the template make the prompt; three words and an end the answer.
    const first = await ask('abcdefgh !count');
    const again = await ask('abcdefgh !count');
    const longer = await ask('abcdefghij !count');
    expect(first.reply.output_tokens).toBe(4);
    expect(again.reply.input_tokens).toBe(first.reply.input_tokens);
    expect(longer.reply.input_tokens).toBe(first.reply.input_tokens + 2);
  });

  it('LLM-12 ends where the most tokens are, and says so', async () => {
    const { reply } = await ask('!forever', { maxOutputTokens: 3 });
    expect(reply).toMatchObject({ content: ' again again again', stop: 'length', output_tokens: 3 });
  });

  it('LLM-04 takes a tool call that a real model wrote as one token, in the own name of the tool', async () => {
    const { reply } = await ask('!read', { tools });
    expect(reply).toMatchObject({ content: '', stop: 'tool_calls' });
    expect(reply.tool_calls).toHaveLength(1);
    const [made] = reply.tool_calls;
    expect(made?.name).toBe('fs.read');
    expect(JSON.parse(made?.arguments ?? '')).toEqual({ path: '/workspace/notes' });
    expect(made?.id).not.toBe('');
  });

  it('puts a tool call together that comes in pieces behind a text', async () => {
    const { reply, pieces } = await ask('!look', { tools });
    expect(pieces.join('')).toBe('I look.');
    expect(reply.tool_calls.map(({ arguments: text }) => JSON.parse(text) as unknown)).toEqual([{ path: '/a "b"' }]);
  });

  it('continues with the result of a tool that the model called', async () => {
    const { reply: first } = await ask('!read', { tools });
    const [made] = first.tool_calls;
    if (made === undefined) throw new Error('the model called no tool');
    const { reply } = await ask(
      [
        { role: 'system', content: 'You count.' },
        { role: 'user', content: '!read' },
        { role: 'assistant', content: '', tool_calls: [made] },
        { role: 'tool', tool_call_id: made.id, name: made.name, content: 'eleven' },
      ],
      { tools },
    );
    expect(reply).toMatchObject({ content: 'There are eleven.', tool_calls: [], stop: 'end' });
  });

  it('says ContextTooLong of a conversation that does not fit into the window', async () => {
    const error = await failureOf(ask('a'.repeat(2_100)));
    expect(error.failure).toBe('ContextTooLong');
    expect(error.message).toContain('2048');
  });

  it('LLM-05 takes a wrong key as a refusal and names the field', async () => {
    const request = { alias: 'default', tenant: 'a', messages: [], tools: [], signal: AbortSignal.timeout(60_000) };
    const error = await failureOf(models('sk-of-a-stranger').ask(request));
    expect(error.message).toContain('check its api_key');
  });

  it('ends a request whose caller has had enough, and the server answers the next one', async () => {
    const ended = new AbortController();
    const asked = ask('!forever', { maxOutputTokens: 50, signal: ended.signal, onText: () => ended.abort('enough') });
    await expect(asked).rejects.toBe('enough');
    const { reply } = await ask('!count');
    expect(reply.content).toBe('One, two, thrée.');
  });
});
