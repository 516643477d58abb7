import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OnError, ToolStep } from '../../crds/schema/tool-workflow.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { systemClock } from '../clock.ts';
import { createUpstream, type Upstream } from '../upstream/index.ts';
import { templateLimits } from '../template/limits.ts';
import { answerLimits, type ChainLimits, chainLimitsDefault } from './limits.ts';
import { createReadingTurns } from './reading-turns.ts';
import { parseExactJson } from './exact-json.ts';
import { runToolChain } from './run-tool-chain.ts';

const seen: { method: string | undefined; url: string | undefined; body: string }[] = [];
const noted: string[] = [];
let answers: ((request: IncomingMessage, response: ServerResponse) => void)[] = [];
const turns = createReadingTurns(systemClock);
let server: Server;
let upstream: Upstream;
beforeAll(async () => {
  upstream = createUpstream({ clock: systemClock, resolve: async () => [] });
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, body });
      (answers.shift() ?? ((_, reply) => reply.end('{}')))(request, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  await upstream.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen.length = 0;
  noted.length = 0;
  answers = [];
});

const says =
  (body: string | Buffer, status = 200, headers = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);
const breaks = (request: IncomingMessage): void => void request.socket.resetAndDestroy();
const step = (name: string, fields: Partial<ToolStep> = {}): ToolStep => ({
  name,
  operation_id: name,
  body_template: '{}',
  on_error: 'AbortWorkflow',
  ...fields,
});

async function run(
  steps: readonly ToolStep[],
  input: unknown = {},
  limits: Partial<ChainLimits> = {},
  signal?: AbortSignal,
) {
  const bounds = { ...chainLimitsDefault, ...limits };
  const { port } = server.address() as AddressInfo;
  const deps = {
    clock: systemClock,
    logger: silentLogger,
    limits: bounds,
    send: (request: { operationId: string; body: string; signal: AbortSignal }) =>
      upstream.send({
        tenant: 'acme',
        method: request.operationId.startsWith('get') ? 'GET' : 'POST',
        server: `http://127.0.0.1:${port}`,
        path: `/${request.operationId}`,
        headers: {},
        body: request.body,
        allowedNetworks: ['127.0.0.0/8'],
        responseBytes: bounds.responseBytes,
        signal: request.signal,
      }),
    inTurn: turns.of('acme'),
    observer: {
      stepReached: () => undefined,
      stepStarted: async (name: string, attempt: number) => void noted.push(`start ${name} ${attempt}`),
      stepExecuted: async (name: string, { status, attempts }: { status: number; attempts: number }) =>
        void noted.push(`done ${name} ${status} ${attempts}`),
    },
  };
  const outcome = await runToolChain(deps, steps, input, { signal: signal ?? AbortSignal.timeout(10_000) });
  if (outcome.kind === 'failed') return outcome;
  const { kind, result, state } = outcome;
  return { kind, result: parseExactJson(result.toString()), state };
}

describe('runToolChain', () => {
  it('GW-WF-08 GW-WF-12 GW-WF-13 GW-WF-14 GW-WF-23 GW-WF-26 chains steps by their state, with the exact text as body', async () => {
    answers = [says('{"id":12345678901234567890,"list":[{"n":"a\\"b"},{"n":"c"}]}'), says('{"last":true}')];
    const outcome = await run(
      [
        step('get-one', {
          body_template: ' {"q": "{{input.q}}", "r": "{{state.input.q}}"}',
          extractors: { id: '$.id', list: '$.list' },
        }),
        step('two', {
          body_template:
            '{"id":{{state.get-one.id}},"n":[{{#each state.get-one.list}}{{@index}}{{#unless @last}},{{/unless}}{{/each}}]}',
        }),
      ],
      { q: 'x' },
    );
    expect(seen).toEqual([
      { method: 'GET', url: '/get-one', body: ' {"q": "x", "r": "x"}' },
      { method: 'POST', url: '/two', body: '{"id":12345678901234567890,"n":[0,1]}' },
    ]);
    expect(JSON.parse(JSON.stringify(outcome))).toEqual({
      kind: 'completed',
      result: { last: true },
      state: { 'get-one.id': Number('12345678901234567890'), 'get-one.list': [{ n: 'a"b' }, { n: 'c' }] },
    });
    expect(JSON.stringify(outcome)).toContain('"get-one.id":12345678901234567890,');
    expect(noted).toEqual(['start get-one 1', 'done get-one 200 1', 'start two 1', 'done two 200 1']);
  });

  it('GW-WF-27 begins each invocation with no state', async () => {
    answers = [says('{"id":1}'), says('{}'), says('{}'), says('{}')];
    const steps = [step('a', { extractors: { id: '$.id' } }), step('b', { body_template: '{"v":"{{state.a.id}}"}' })];
    expect(await run(steps)).toMatchObject({ state: { 'a.id': 1 } });
    expect(await run(steps)).toEqual({ kind: 'completed', result: {}, state: {} });
    expect(seen.map(({ body }) => body)).toEqual(['{}', '{"v":"1"}', '{}', '{"v":""}']);
  });

  it.each([
    ['GW-WF-16 AMB-020 nothing is escaped', '{"v":"{{input.v}}"}', { v: "<&>'" }, '{"v":"<&>\'"}'],
    ['GW-WF-16 AMB-020 a value may be JSON', '{{input.v}}', { v: `{"q":"&<>'\`="}` }, `{"q":"&<>'\`="}`],
    ['AMB-129 a missing variable is empty', '{"v":"{{state.none.x}}{{input.none.y}}"}', {}, '{"v":""}'],
    ['GW-WF-15 if and else', '{{#if input.v}}1{{else}}2{{/if}}', { v: [] }, '2'],
    ['GW-WF-15 unless', '{{#unless input.v}}1{{else}}2{{/unless}}', { v: 0 }, '1'],
    [
      'GW-WF-15 with',
      '{{#with input.v as |w|}}[{{n}},{{w.n}},{{../input.m}}]{{/with}}',
      { v: { n: 1 }, m: 2 },
      '[1,1,2]',
    ],
    [
      'GW-WF-15 each over an object',
      '[{{#each input.v}}"{{@key}}={{this}}"{{#unless @last}},{{/unless}}{{/each}}]',
      { v: { a: 1, b: 2 } },
      '["a=1","b=2"]',
    ],
    ['GW-WF-15 lookup', '{{lookup input.v input.k}}', { v: { a: 7 }, k: 'a' }, '7'],
    ['nothing of a prototype', '"{{input.constructor}}{{input.__proto__.x}}{{lookup input \'toString\'}}"', {}, '""'],
    ['a number of a thousand digits as text', '"{{input.v}}"', { v: '9'.repeat(1_000) }, `"${'9'.repeat(1_000)}"`],
  ])('%s', async (_title, body_template, input, body) => {
    await run([step('a', { body_template })], input);
    expect(seen.map((request) => request.body)).toEqual([body]);
  });

  it.each(['AbortWorkflow', 'Continue', { RetryN: 3 }] satisfies OnError[])(
    'GW-WF-40 AMB-128 refuses a body that is no JSON under %j and names the step',
    async (on_error) => {
      const steps = [step('first'), step('second', { body_template: '{"v":"{{input.v}}"}', on_error }), step('third')];
      await expect(run(steps, { v: '"' })).rejects.toMatchObject({
        code: 'invalid',
        reason: 'Validation',
        message: expect.stringContaining("'second'") as string,
      });
      expect(seen.map(({ url }) => url)).toEqual(['/first']);
    },
  );

  const failures = [
    ['404', says('{"x":1}', 404), 404],
    ['500', says('{"x":1}', 500), 500],
    ['302', says('{"x":1}', 302, { location: '/other' }), 302],
    ['text', says('hello'), 200],
    ['an empty body', says(''), 200],
    ['text that is not UTF-8', says(Buffer.from([0x22, 0xff, 0x22])), 200],
    ['JSON that is too deep', says('['.repeat(65) + ']'.repeat(65)), 200],
    ['too many values', says(`[${'0,'.repeat(250_000)}0]`), 200],
    ['a long number among many values', says(`[${'0,'.repeat(25_000)}${'9'.repeat(20)}]`), 200],
    ['a reset', breaks, undefined],
    ['a bomb', says(gzipSync(Buffer.alloc(11 * 1024 * 1024, ' ')), 200, { 'content-encoding': 'gzip' }), 200],
  ] as const;

  it.each(failures)('GW-WF-31 AMB-126 ends at %s under AbortWorkflow', async (_title, answer, status) => {
    answers = [answer];
    const outcome = await run([step('a'), step('b')]);
    expect(outcome).toMatchObject({ kind: 'failed', step: 'a' });
    expect(seen).toHaveLength(1);
    expect(noted).toEqual(['start a 1', ...(status === undefined ? [] : [`done a ${status} 1`])]);
  });

  it.each(failures)('GW-WF-32 AMB-126 continues after %s under Continue, without values', async (_title, answer) => {
    answers = [answer, says('{"ok":1}')];
    const outcome = await run([step('a', { on_error: 'Continue', extractors: { x: '$.x' } }), step('b')]);
    expect(outcome).toMatchObject({ kind: 'completed', result: { ok: 1 } });
    expect(outcome).toHaveProperty('state', {});
  });

  it('AMB-127 gives null where no step succeeded, and the last success where the last step failed', async () => {
    answers = [says('', 500), says('', 500)];
    const steps = [step('a', { on_error: 'Continue' }), step('b', { on_error: 'Continue' })];
    expect(await run(steps)).toMatchObject({ kind: 'completed', result: null });
    answers = [says('{"a":1}'), says('', 500)];
    expect(await run(steps)).toMatchObject({ result: { a: 1 } });
  });

  it.each([0, 1, 2, 3])('GW-WF-33 sends the same body %i further times, and aborts', async (RetryN) => {
    answers = Array.from({ length: 9 }, () => says('', 503));
    const outcome = await run([step('a', { on_error: { RetryN }, body_template: '{"v":{{input.v}}}' }), step('b')], {
      v: 1,
    });
    expect(outcome).toMatchObject({ kind: 'failed', step: 'a', reason: expect.stringContaining('503') as string });
    expect(seen).toEqual(Array.from({ length: RetryN + 1 }, () => ({ method: 'POST', url: '/a', body: '{"v":1}' })));
    expect(noted.at(-1)).toBe(`done a 503 ${RetryN + 1}`);
  });

  it('GW-WF-33 tries no further once an attempt succeeded', async () => {
    answers = [breaks, says('x'), says('{"id":3}')];
    const outcome = await run([step('a', { on_error: { RetryN: 5 }, extractors: { id: '$.id' } })]);
    expect(outcome).toMatchObject({ kind: 'completed', result: { id: 3 } });
    expect(noted).toEqual(['start a 1', 'start a 2', 'start a 3', 'done a 200 3']);
  });

  it('ends a step and the whole chain by their deadlines', async () => {
    answers = [() => undefined, says('{"b":1}')];
    const slow = [step('a', { on_error: 'Continue' }), step('b')];
    expect(await run(slow, {}, { stepMs: 100 })).toMatchObject({ kind: 'completed', result: { b: 1 } });
    answers = [() => undefined];
    expect(await run(slow, {}, { chainMs: 100 })).toMatchObject({ kind: 'failed', step: 'a' });
    answers = [() => undefined];
    await expect(run(slow, {}, {}, AbortSignal.timeout(100))).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('bounds bodies, to the byte', async () => {
    const send = (count: number) =>
      run([step('a', { body_template: '"{{input.v}}"' })], { v: 'x'.repeat(count) }, { bodyBytes: 100 });
    await send(98);
    await expect(send(99)).rejects.toMatchObject({ reason: 'Validation' });
    expect(seen).toHaveLength(1);
  });

  it('renders the largest body that the configuration may allow, to the byte', async () => {
    const most = templateLimits.renderedLength;
    const send = (count: number) =>
      run([step('a', { body_template: '"{{input.v}}"' })], { v: 'x'.repeat(count) }, { bodyBytes: most });
    expect(await send(most - 2)).toMatchObject({ kind: 'completed' });
    await expect(send(most - 1)).rejects.toThrow(`the body is longer than ${most} bytes`);
    expect(seen.map(({ body }) => body.length)).toEqual([most]);
  });

  it('ends templates that would take too much work, before they have done it', async () => {
    let reads = 0;
    const get = (target: object, key: string | symbol): unknown => {
      reads += 1;
      return Reflect.get(target, key) as unknown;
    };
    const length = 3_000;
    const list = new Proxy(
      Array.from({ length }, () => 1),
      { get },
    );
    const body_template = '[{{#each input.list}}{{#each ../input.list}}1,{{/each}}{{/each}}1]';
    await expect(run([step('a', { body_template })], { list })).rejects.toMatchObject({ reason: 'Validation' });
    expect(reads).toBeGreaterThan(length);
    expect(reads).toBeLessThan(length ** 2 / 4);
  });

  it('keeps long numbers among 25,000 values, and has no such bound where none is long', async () => {
    const long = '9'.repeat(20);
    const floats = '0.30000000000000004,'.repeat(15_000);
    answers = [says(`[${'0,'.repeat(24_998)}${long}]`), says(`[${floats}${`"${long}",`.repeat(15_000)}1e30]`)];
    const [a, b] = [step('a', { extractors: { id: '$[24998]' } }), step('b', { body_template: '[{{state.a.id}}]' })];
    expect(await run([a, b])).toMatchObject({ kind: 'completed' });
    expect(seen.at(-1)?.body).toBe(`[${long}]`);
  });

  it('counts a value as often as it is extracted, and fails the step beyond the bound of the state', async () => {
    const text = JSON.stringify({ v: 'x'.repeat(answerLimits.stateBytes / 4 - 2) });
    const take = (name: string, count: number, fields = {}) =>
      step(name, {
        extractors: Object.fromEntries(Array.from({ length: count }, (_, i) => [`v${i}`, '$.v'])),
        ...fields,
      });
    answers = [says(text), says(text)];
    expect(await run([take('a', 2), take('b', 2)])).toMatchObject({ kind: 'completed' });
    answers = [says(text), says(text)];
    expect(await run([take('a', 2), take('b', 3)])).toEqual({
      kind: 'failed',
      step: 'b',
      reason: `the extracted values of all steps have more than ${answerLimits.stateBytes} bytes of JSON; extract less`,
    });
    answers = [says(text), says(text), says('{"v":1}')];
    const outcome = await run([take('a', 32, { on_error: 'Continue' }), take('b', 4), take('c', 0)]);
    expect(outcome).toMatchObject({ kind: 'completed', result: { v: 1 } });
    expect(Object.keys((outcome as { state: object }).state)).toEqual(['b.v0', 'b.v1', 'b.v2', 'b.v3']);
  });

  it('fails at the step of the result where result and state are larger than an answer may be', async () => {
    const limits = { responseBytes: 2 * answerLimits.bytes };
    const most = answerLimits.bytes - 1_002;
    const ofBytes = (bytes: number) => says(`"${'x'.repeat(bytes - 2)}"`);
    const steps = [step('a', { extractors: { v: '$' } }), step('b')];
    answers = [ofBytes(1_002), ofBytes(most)];
    expect(await run(steps, {}, limits)).toMatchObject({ kind: 'completed' });
    answers = [ofBytes(1_002), ofBytes(most + 1)];
    expect(await run(steps, {}, limits)).toEqual({
      kind: 'failed',
      step: 'b',
      reason: `the result and the state have more than ${answerLimits.bytes} bytes of JSON; ask for less`,
    });
    answers = [says('1'), ofBytes(most + 1_002), says('{}')];
    expect(await run([...steps, step('c')], {}, limits)).toMatchObject({ kind: 'completed', result: {} });
  });

  it('AMB-127 keeps a result of 6 MiB for steps behind it that may fail, and fails where a larger one turns out to be the answer', async () => {
    const steps = [step('a'), step('b', { on_error: 'Continue' })];
    const ofBytes = (bytes: number) => says(`"${'x'.repeat(bytes - 2)}"`);
    answers = [ofBytes(answerLimits.keptBytes), says('', 500)];
    expect(await run(steps)).toMatchObject({ kind: 'completed', result: 'x'.repeat(answerLimits.keptBytes - 2) });
    answers = [ofBytes(answerLimits.keptBytes + 1), says('{"b":1}')];
    expect(await run(steps)).toMatchObject({ kind: 'completed', result: { b: 1 } });
    answers = [ofBytes(answerLimits.keptBytes + 1), says('', 500)];
    const reason = expect.stringContaining('a step behind this one failed, and its result was not kept') as string;
    expect(await run(steps)).toEqual({ kind: 'failed', step: 'a', reason });
  });

  it('searches large responses within a bound of values and of work, or fails the step', async () => {
    const objects = (count: number) =>
      JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, a: 'b', c: null })));
    const search = step('a', { extractors: { x: "$..[?(@.q=='z' || @.r==1)].id", y: '$..none', first: '$[0].id' } });
    answers = [says(objects(6_000))];
    expect(await run([search])).toMatchObject({ kind: 'completed', state: { 'a.first': 0 } });
    const long = `$..[?(${Array(8)
      .fill(`@${'.a'.repeat(20)}==1`)
      .join('||')})]`;
    answers = [says(objects(6_000)), says('{"ok":1}')];
    const costly = step('a', { on_error: 'Continue', extractors: { first: '$[0].id', x: long } });
    expect(await run([costly, step('b')])).toEqual({ kind: 'completed', result: { ok: 1 }, state: {} });
    answers = [says(objects(20_000)), says(objects(20_000)), says(objects(6_000))];
    const tooMany = { kind: 'failed', reason: expect.stringContaining('too many to search') as string };
    expect(await run([search])).toMatchObject(tooMany);
    expect(await run([step('b', { extractors: { first: '$[0].id' } })])).toMatchObject({ state: { 'b.first': 0 } });
    expect(await run([step('c', { extractors: { x: long } })])).toMatchObject(tooMany);
  });
});
