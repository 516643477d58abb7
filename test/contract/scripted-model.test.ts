import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createModels } from '../../lib/models/create-models.ts';
import { readNodeConfig } from '../../lib/node-config/index.ts';
import { silentLogger } from '../support/silent-logger.ts';

const program = resolve(import.meta.dirname, '../../examples/agents/scripted-model.mjs');

const script = {
  rules: [
    { when: { model: 'broken' }, reply: { status: 429, retry_after: 7, message: 'slow down' } },
    { when: { tool_result_includes: 'eleven' }, reply: { content: 'There are eleven.' } },
    {
      when: { system_includes: 'count', last_user_includes: 'lines', turn: 1 },
      reply: { content: 'I look.', tool_calls: [{ name: 'fs.read', arguments: { path: '/workspace/notes' } }] },
    },
    { when: { answer_includes: 'draft' }, reply: { content: 'It is a draft.' } },
    { when: { system_includes: 'Repeat.' }, reply: { from_input: true } },
    { when: { model: 'pair' }, reply: { together: 2, content: 'Both are here.' } },
    { when: { model: 'lone' }, reply: { together: 2, together_seconds: 0, content: 'Both are here.' } },
    { when: { model: 'any' }, reply: { content: 'Anything.', usage: { prompt_tokens: 3, completion_tokens: 2 } } },
  ],
};

interface Message {
  readonly role: string;
  readonly content: string;
}

const system = { role: 'system', content: 'You count.' };
const user = { role: 'user', content: 'How many lines?' };
const tools = [{ type: 'function', function: { name: 'fs_read', parameters: { type: 'object' } } }];

describe('the scripted model of the examples', () => {
  let folder = '';
  let address = '';
  let server: ChildProcess | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windlass-scripted-'));
    await writeFile(join(folder, 'script.json'), JSON.stringify(script));
    const started = spawn(process.execPath, [program, join(folder, 'script.json'), '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    server = started;
    for await (const line of createInterface(started.stdout)) {
      address = line;
      break;
    }
  });
  afterAll(async () => {
    server?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  const ask = (body: object): Promise<Response> =>
    fetch(`${address}/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
  const reply = async (model: string, messages: readonly Message[]): Promise<unknown> =>
    (await ask({ model, messages, tools })).json();

  it('answers by the first rule whose conditions all hold', async () => {
    expect(await reply('any', [user])).toMatchObject({
      choices: [{ message: { content: 'Anything.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
    const results = [system, user, { role: 'assistant', content: '' }, { role: 'tool', content: 'eleven of them' }];
    expect(await reply('any', results)).toMatchObject({ choices: [{ message: { content: 'There are eleven.' } }] });
  });

  it('shows the texts that no rule answers, in the words of the conditions', async () => {
    const long = { role: 'user', content: 'x'.repeat(81) };
    const answered = { role: 'assistant', content: '' };
    const message = `no rule of the script answers this request: turn 2 of model "none", system "You count.", last user "${'x'.repeat(80)}…"`;
    expect(await reply('none', [system, long, answered])).toEqual({ error: { message, type: 'scripted', code: null } });
  });

  it('tells the answer that a judge is asked about from the task and the input beside it', async () => {
    const judged = (texts: object) => reply('none', [{ role: 'user', content: JSON.stringify(texts) }]);
    expect(await judged({ task: 'a', input: 'b', answer: 'first draft' })).toHaveProperty('choices');
    expect(await judged({ task: 'draft', input: 'draft', answer: 'done' })).toHaveProperty('error');
    expect(await judged(['draft'])).toHaveProperty('error');
    expect(await judged({ answer: 1 })).toHaveProperty('error');
  });

  it('says what its input says, turn by turn, and the last reply from then on', async () => {
    const replies = [{ tool_calls: [{ name: 'fs.read', arguments: { path: 'a' } }] }, { content: 'Read.' }];
    const begun = [
      { role: 'system', content: 'Repeat.' },
      { role: 'user', content: JSON.stringify(replies) },
    ];
    expect(await reply('any', begun)).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { name: 'fs_read', arguments: '{"path":"a"}' } }] } }],
    });
    const answered = { role: 'assistant', content: '' };
    for (const messages of [
      [...begun, answered],
      [...begun, answered, answered],
    ])
      expect(await reply('any', messages)).toMatchObject({ choices: [{ message: { content: 'Read.' } }] });
    const wrong = [{ role: 'system', content: 'Repeat.' }, user];
    expect((await ask({ model: 'any', messages: wrong })).status).toBe(400);
  });

  it('calls a tool in the spelling of the request', async () => {
    const call = { type: 'function', function: { name: 'fs_read', arguments: '{"path":"/workspace/notes"}' } };
    expect(await reply('other', [system, user])).toMatchObject({
      choices: [{ message: { content: 'I look.', tool_calls: [call] }, finish_reason: 'tool_calls' }],
    });
  });

  it('streams an answer in pieces, and its usage where asked', async () => {
    const response = await ask({
      model: 'm',
      messages: [system, user],
      tools,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = (await response.text()).trim().split('\n\n');
    expect(events.at(-1)).toBe('data: [DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.replace(/^data: /, '')));
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: unknown }) => delta));
    const written = deltas.map((delta) => delta.tool_calls?.[0]?.function.arguments ?? '').join('');
    expect(JSON.parse(written)).toEqual({ path: '/workspace/notes' });
    expect(deltas.length).toBeGreaterThan(4);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
  });

  it('is a provider that our own client understands', async () => {
    const provider = {
      name: 'scripted',
      type: 'openai',
      api_key: 'env:KEY',
      endpoint: address,
      models: [{ alias: 'default', model: 'any' }],
    };
    const config = readNodeConfig(JSON.stringify({ spec: { llm_providers: [provider] } }), { KEY: 'none' });
    const models = createModels({ clock: systemClock, logger: silentLogger, random: () => 0 }, config);
    const ask = (...messages: { role: 'system' | 'user'; content: string }[]) =>
      models.ask({
        alias: 'default',
        tenant: 'a',
        messages,
        tools: [{ name: 'fs.read', description: 'Reads a file.', input_schema: { type: 'object' } }],
        signal: new AbortController().signal,
      });
    expect(await ask({ role: 'user', content: 'hello' })).toMatchObject({
      content: 'Anything.',
      stop: 'end',
      input_tokens: 3,
      output_tokens: 2,
    });
    const counting = await ask({ role: 'system', content: 'You count.' }, { role: 'user', content: 'How many lines?' });
    expect(counting).toMatchObject({
      content: 'I look.',
      stop: 'tool_calls',
      tool_calls: [{ name: 'fs.read', arguments: '{"path":"/workspace/notes"}' }],
    });
  });

  it('answers requests of a rule together, each time anew, and refuses one whose others do not come', async () => {
    for (const round of [1, 2]) {
      const both = await Promise.all([
        ask({ model: 'pair', messages: [user] }),
        ask({ model: 'pair', messages: [user] }),
      ]);
      expect([round, ...both.map(({ status }) => status)]).toEqual([round, 200, 200]);
    }
    const lone = await ask({ model: 'lone', messages: [user] });
    expect([lone.status, await lone.text()]).toEqual([503, expect.stringContaining('fewer than 2 requests')]);
  });

  it('refuses as the script says', async () => {
    const response = await ask({ model: 'broken', messages: [user] });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
  });
});
