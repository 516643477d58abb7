import { afterAll, beforeAll, expect, it } from 'vitest';
import { dialects, say } from '../../test/support/model-dialects.ts';
import { type ModelServer, openModelServer } from '../../test/support/model-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { systemClock } from '../clock.ts';
import { createSoundMessages } from '../conversation/sound-calls.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { createModels } from './create-models.ts';
import type { ModelMessage } from './models.ts';

let server: ModelServer;
beforeAll(async () => void (server = await openModelServer()));
afterAll(() => server.close());

/** The refusal of a call follows it. */
const history = (levels: number): readonly ModelMessage[] => {
  const args = `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  return [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: '', tool_calls: [{ id: 'c', name: 'count', arguments: args }] },
    { role: 'tool', tool_call_id: 'c', name: 'count', content: 'refused: nested too deep' },
  ];
};

it.each(dialects.map((dialect) => [dialect.type, dialect] as const))(
  '%s is asked though an earlier call has arguments that are nested deeply',
  async (type, dialect) => {
    server.answerWith(say(dialect, { pieces: ['ok'] }));
    const endpoint = type === 'openai' ? `${server.url}/v1` : server.url;
    const key = type === 'ollama' ? {} : { api_key: 'env:KEY' };
    const provider = { name: 'one', type, ...key, endpoint, models: [{ alias: 'default', model: 'm' }] };
    const spec = { llm_providers: [provider], llm_selection: { max_retries: 0 } };
    const deps = { clock: systemClock, logger: silentLogger, random: () => 0 };
    const models = createModels(deps, readNodeConfig(JSON.stringify({ spec }), { KEY: 'sk-1' }));
    const { signal } = new AbortController();
    const messages = [...history(20_000)];
    const reply = await models.ask({ alias: 'default', tenant: 'a', tools: [], signal, messages });
    expect(reply.content).toBe('ok');
  },
  60_000,
);

it.each([
  [64, false],
  [65, true],
])('a conversation sends arguments of %i levels empty: %s', async (levels, isEmpty) => {
  const messages = await createSoundMessages()(history(levels));
  const call = messages.find(({ role }) => role === 'assistant');
  expect(JSON.stringify(call).includes('"arguments":"{}"')).toBe(isEmpty);
});
