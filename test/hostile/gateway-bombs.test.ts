import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { type GatewayWorld, startGatewayWorld } from '../support/gateway-world.ts';
import { answerJson } from '../support/http-peer.ts';
import { laneKey, startAgent } from './support/signed-lane.ts';

/**
 * Definitions that are bombs, as a user with kubectl might bring them past the checks of a registration, and globs of
 * sessions and contexts. A call of one is answered in time, and the process keeps serving meanwhile.
 */
const key = laneKey();
/** Longest turn of the event loop, in milliseconds of the processor. */
const turnMs = 400;

let nats: TestBus;
beforeAll(async () => {
  nats = await startTestBus();
});
afterAll(() => nats.stop());

type Fields = Partial<ToolWorkflow['spec']>;

const step = (more: object): Fields =>
  ({
    steps: [
      {
        name: 'read',
        operation_id: 'read',
        body_template: '{}',
        extractors: {},
        on_error: 'AbortWorkflow',
        ...more,
      },
    ],
  }) as unknown as Fields;
const template = (body_template: string): Fields => step({ body_template });
const extractor = (path: string): Fields => step({ extractors: { x: path } });
const schema = (input_schema: object): Fields => ({ input_schema }) as unknown as Fields;

const nested = (depth: number): string => `${'{{#each input.list}}'.repeat(depth)}x${'{{/each}}'.repeat(depth)}`;
const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, n) => [
    `d${n}`,
    { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
  ]),
);

const list = Array.from({ length: 300 }, (_, index) => index);
const long = `${'a'.repeat(50_000)}!`;
const big = {
  list: Array.from({ length: 4_000 }, (_, id) => ({ id, name: `n${id}`, tags: ['a', 'b'] })),
  deep: JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) as unknown,
};

const bombs: Readonly<Record<string, Fields>> = {
  'template of nested loops': template(`{"x":"${nested(6)}"}`),
  'template of 100 nested loops': template(`{"x":"${nested(100)}"}`),
  'template that looks everything up': template(`{"x":"${'{{lookup input.list input.n}}'.repeat(20_000)}"}`),
  'template that runs code': template(`{"x":"{{#with (lookup input 'constructor')}}{{this}}{{/with}}"}`),
  'template of a partial': template('{"x":"{{> (lookup . "n") }}"}'),
  'extractor with a script': extractor('$..[?(@.id == process.exit(1))]'),
  'extractor that calls': extractor("$.list[?(@.name.constructor.constructor('return 1')())]"),
  'extractor of many searches': extractor('$..*..*..*..*..*'),
  'extractor of filters in filters': extractor(`$${'..[?(@.id > 0)]'.repeat(8)}`),
  'extractor with a regular expression': extractor('$.list[?(@.name.match(/(n+)+$/))]'),
  'extractor of 2,000 characters': extractor(`$${'.a'.repeat(1_000)}`),
  'schema with a pattern of exponential time': schema({ type: 'object', properties: { text: { pattern: '^(a+)+$' } } }),
  'schema with a backreference': schema({ type: 'object', properties: { text: { pattern: String.raw`^(a*)*\1$` } } }),
  'schema that doubles 40 times': schema({ type: 'object', $defs: { ...doubling, d40: {} }, $ref: '#/$defs/d0' }),
  'schema that refers to itself': schema({ type: 'object', $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }),
  'schema that compares every pair': schema({ type: 'object', properties: { list: { uniqueItems: true } } }),
  'schema of the network': schema({ type: 'object', $ref: 'http://169.254.169.254/latest' }),
};

/** Milliseconds of the processor that this thread has used: other processes of the machine take nothing of it. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The dearest turn of the event loop while something runs, in milliseconds of the processor. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [last, longest, isOver] = [processorMs(), 0, false];
  const watch = async (): Promise<void> => {
    while (!isOver) {
      // oxlint-disable-next-line no-await-in-loop -- it follows the loop of events
      await new Promise((resolve) => setImmediate(resolve));
      const now = processorMs();
      longest = Math.max(longest, now - last);
      last = now;
    }
  };
  const watching = watch();
  await work();
  isOver = true;
  await watching;
  return longest;
}

describe.each(Object.entries(bombs))('a %s', (_title, workflow) => {
  it('is answered in time, and blocks no other call', async () => {
    const gateway: GatewayWorld = await startGatewayWorld({
      bus: nats.connect(),
      key,
      workflow,
      limits: { steps: 20, bodyBytes: 1_048_576, responseBytes: 10_485_760, stepMs: 3_000, chainMs: 5_000 },
      answer: (_request, response) => answerJson(response, 200, big),
    });
    const agent = await startAgent(gateway, key);
    // Once, so that what is loaded and compiled first is not measured.
    await agent.call({ id: 'warm' }, 'orders.shared');
    let status = 0;
    const started = processorMs();
    const turn = await longestTurn(async () => {
      ({ status } = await agent.call({ id: 'a', n: 3, list, text: long }));
    });
    expect([200, 400, 422]).toContain(status);
    expect(processorMs() - started).toBeLessThan(5_000);
    expect(turn).toBeLessThan(turnMs);
    await gateway.close();
  });
});

describe('globs', () => {
  it('GW-SESS-08 of a session and its context are matched in time, however many stars they have', async () => {
    const stars = `${'*a'.repeat(63)}b`;
    const globs = Array.from({ length: 200 }, (_, index) => `${stars.slice(0, 124)}${index}`);
    // A session has eight stars in a pattern at most; contexts of older versions have more.
    const ofSession = Array.from({ length: 199 }, (_, index) => `${'*a'.repeat(8)}${'a'.repeat(100)}b${index}`);
    const gateway = await startGatewayWorld({
      bus: nats.connect(),
      key,
      security: { tools: [...globs, '*'], deny_list: globs },
    });
    const agent = await startAgent(gateway, key, { patterns: [...ofSession, '*'] });
    const turn = await longestTurn(async () => {
      expect((await agent.call({ id: 'a' }, 'a'.repeat(128))).status).toBe(403);
      expect((await agent.call({ id: 'a' })).isError).toBe(false);
    });
    expect(turn).toBeLessThan(turnMs);
    await gateway.close();
  });
});
