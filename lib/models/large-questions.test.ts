import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Dialect, dialects, say } from '../../test/support/model-dialects.ts';
import { type Answer, type ModelServer, openModelServer, refuse } from '../../test/support/model-server.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { readNodeConfig } from '../node-config/index.ts';
import { createModels } from './create-models.ts';
import { modelLimits } from './limits.ts';

const [openai] = dialects as readonly [Dialect];
const perMinute = 30_000;
const answerTokens = 500;
const unitsPerToken = 4;
const ok = say(openai, { pieces: ['ok'], input: 1_000, output: 100 });

let server: ModelServer;
beforeAll(async () => void (server = await openModelServer()));
afterAll(() => server.close());

function world(limits: object) {
  const clock = createManualClock();
  const served = [{ alias: 'default', model: 'm', max_output_tokens: answerTokens }];
  const provider = {
    name: 'one',
    type: 'openai',
    api_key: 'env:KEY',
    endpoint: `${server.url}/v1`,
    ...limits,
    models: served,
  };
  const spec = { llm_providers: [provider], llm_selection: { max_retries: 0 } };
  const config = readNodeConfig(JSON.stringify({ spec }), { KEY: 'sk-1' });
  const models = createModels({ clock, logger: silentLogger, random: () => 0 }, config);
  const over = new AbortController();
  const began = clock.steadyMs();
  const seconds = (): number => (clock.steadyMs() - began) / 1_000;
  /** A question that reserves so many tokens, with those of the longest answer. */
  const asking = (tenant: string, tokens: number) => {
    const content = tenant.padEnd(unitsPerToken * (tokens - answerTokens), 'x');
    const messages = [{ role: 'user' as const, content }];
    return models.ask({ alias: 'default', tenant, messages, tools: [], signal: over.signal });
  };
  /** Asks without end, one question after the other. */
  const busy = async (tenant: string, tokens: number): Promise<void> => {
    while (!over.signal.aborted) await asking(tenant, tokens).catch(() => undefined);
  };
  /** Time and the answers of the server advance together. */
  const pass = async (until: () => boolean, atMost: number): Promise<void> => {
    const end = seconds() + atMost;
    while (!until() && seconds() < end) {
      await clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  return { clock, asking, busy, pass, seconds, over };
}

const never = (): boolean => false;

/** An answer that begins and ends after so many seconds. */
const late =
  ({ clock }: Pick<ReturnType<typeof world>, 'clock'>, ms: number): Answer =>
  (response, request) =>
    void clock.sleep(ms).then(() => ok(response, request));

describe('a question beside a tenant that asks short ones all the time', () => {
  it.each([
    ['that never failed', 0],
    ['whose own circuit is open', modelLimits.breakerFailures],
  ])('issue 12 §11 has its tokens after a minute: of a tenant %s', async (_, failures) => {
    const { asking, busy, pass, over } = world({ tokens_per_minute: perMinute, max_concurrency: 20 });
    server.answerWith(refuse(500));
    for (let count = 0; count < failures; count++) await asking('a', 1_000).catch(() => undefined);
    server.answerWith(ok);
    const others = Array.from({ length: 30 }, () => busy('b', 1_500));
    await pass(never, 30);
    let isAnswered = false;
    void asking('a', 12_500).then(() => (isAnswered = true));
    await pass(() => isAnswered, 70);
    expect(isAnswered).toBe(true);
    over.abort('enough');
    await Promise.all(others);
  });

  it.each([
    ['that never failed', 0],
    ['whose own circuit is open', modelLimits.breakerFailures],
  ])('issue 12 §11 has the only place in its turn: of a tenant %s', async (_, failures) => {
    const { clock, asking, busy, pass, over } = world({ max_concurrency: 1 });
    server.answerWith(refuse(500));
    for (let count = 0; count < failures; count++) await asking('a', 1_000).catch(() => undefined);
    server.answerWith(late({ clock }, 15_000));
    const others = ['b', 'b', 'c'].map((tenant) => busy(tenant, 1_500));
    await pass(never, 5);
    let isAnswered = false;
    void asking('a', 1_000).then(() => (isAnswered = true));
    // Ten of the answer that is under way, 15 of each tenant, and one for each step of the test.
    await pass(() => isAnswered, 60);
    expect(isAnswered).toBe(true);
    over.abort('enough');
    await Promise.all(others);
  });
});

describe('a question that wants many tokens', () => {
  const answerMs = 540_000;

  /** Tenant b has all places that it may have, for 540 seconds, and 26 questions that wait for one. Then a and c ask. */
  async function behindPlaces(large: number) {
    const one = world({ tokens_per_minute: perMinute, max_concurrency: 5 });
    server.answerWith(late(one, answerMs));
    const ends: Promise<unknown>[] = Array.from({ length: 30 }, () => one.asking('b', 800));
    await one.pass(never, 5);
    ends.push(one.asking('a', large));
    await one.pass(never, 1);
    ends.push(one.asking('c', 800));
    const sentAt = new Map<string, number>();
    await one.pass(() => {
      for (const { body } of server.requests) {
        const [message] = body['messages'] as readonly { readonly content: string }[];
        const tenant = message?.content.slice(0, 1) ?? '';
        if (!sentAt.has(tenant)) sentAt.set(tenant, one.seconds());
      }
      return sentAt.size === 3;
    }, 5_000);
    one.over.abort('enough');
    await Promise.allSettled(ends);
    return sentAt;
  }

  it('issue 12 is sent when the answers end that are under way, whatever waits for a place', async () => {
    const sentAt = await behindPlaces(28_000);
    expect(sentAt.get('a')).toBeLessThanOrEqual(answerMs / 1_000 + 5);
    expect(sentAt.get('c')).toBeLessThanOrEqual(10);
  });

  it('issue 12 delays those behind it by its own answer where it wants all, once', async () => {
    const sentAt = await behindPlaces(perMinute + 1);
    expect(sentAt.get('a')).toBeLessThanOrEqual(answerMs / 1_000 + 5);
    expect(sentAt.get('c')).toBeLessThanOrEqual((2 * answerMs) / 1_000 + 10);
  });
});
