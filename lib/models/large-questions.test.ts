import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Dialect, dialects, say } from '../../test/support/model-dialects.ts';
import { type ModelServer, openModelServer } from '../../test/support/model-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { createModels } from './create-models.ts';

const [openai] = dialects as readonly [Dialect];
const perMinute = 30_000;
const answerTokens = 500;
const unitsPerToken = 4;

let server: ModelServer;
beforeAll(async () => void (server = await openModelServer()));
afterAll(() => server.close());

function world() {
  const clock = createManualClock();
  const limits = { tokens_per_minute: perMinute, max_concurrency: 20 };
  const served = [{ alias: 'default', model: 'm', max_output_tokens: answerTokens }];
  const provider = {
    name: 'one',
    type: 'openai',
    api_key: 'env:KEY',
    endpoint: `${server.url}/v1`,
    ...limits,
    models: served,
  };
  const config = readNodeConfig(JSON.stringify({ spec: { llm_providers: [provider] } }), { KEY: 'sk-1' });
  const models = createModels({ clock, logger: silentLogger, random: () => 0 }, config);
  const over = new AbortController();
  /** A question that reserves so many tokens, with those of the longest answer. */
  const asking = (tenant: string, tokens: number) => {
    const content = 'x'.repeat(unitsPerToken * (tokens - answerTokens));
    return models.ask({
      alias: 'default',
      tenant,
      messages: [{ role: 'user', content }],
      tools: [],
      signal: over.signal,
    });
  };
  /** Time and the answers of the server advance together. */
  const second = async (): Promise<void> => {
    await clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 2));
  };
  return { asking, second, over };
}

it('issue 12 a long conversation is answered beside a tenant that asks short questions all the time', async () => {
  const { asking, second, over } = world();
  server.answerWith(say(openai, { pieces: ['ok'], input: 1_000, output: 100 }));
  const busy = async (): Promise<void> => {
    while (!over.signal.aborted) await asking('b', 1_500).catch(() => undefined);
  };
  const others = Array.from({ length: 30 }, busy);
  for (let past = 0; past < 30; past++) await second();
  let isAnswered = false;
  void asking('a', 12_500).then(() => (isAnswered = true));
  for (let past = 0; past < 70 && !isAnswered; past++) await second();
  expect(isAnswered).toBe(true);
  over.abort('enough');
  await Promise.all(others);
});
