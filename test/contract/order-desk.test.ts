import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Agent } from '../../crds/schema/agent.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { SecurityContext } from '../../crds/schema/security-context.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { validateSpec } from '../../crds/validators.ts';
import { checkAgent } from '../../lib/agent/check-agent.ts';
import { systemClock } from '../../lib/clock.ts';
import { readOpenApi } from '../../lib/openapi-document/index.ts';
import { checkToolWorkflow } from '../../lib/tool-chain/check-tool-workflow.ts';
import { chainLimitsDefault } from '../../lib/tool-chain/limits.ts';
import { createReadingTurns } from '../../lib/tool-chain/reading-turns.ts';
import { runToolChain, type SendStep } from '../../lib/tool-chain/run-tool-chain.ts';
import { matchesAny } from '../../lib/tools/name-pattern.ts';
import { createUpstream } from '../../lib/upstream/index.ts';
import { silentLogger } from '../support/silent-logger.ts';

const folder = join(import.meta.dirname, '../../examples/order-desk');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const [api, chain, context] = parseAllDocuments(read('gateway.yaml')).map((document) => document.toJS()) as [
  ApiSpec,
  ToolWorkflow,
  SecurityContext,
];
const agent = parse(read('agent.yaml')) as Agent;
const key = 'the-key';

/** The server of the example as it is started by hand. */
let desk: ChildProcessByStdio<null, Readable, null>;
let url = '';
let log = '';
const turns = createReadingTurns(systemClock);
const upstream = createUpstream({
  clock: systemClock,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
});

beforeAll(async () => {
  const env = { PATH: process.env.PATH, API_KEY: key };
  desk = spawn(process.execPath, [join(folder, 'server.mjs'), '0'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  desk.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await once(desk.stdout, 'data');
  url = log.trim();
});
afterAll(async () => {
  desk.kill();
  await upstream.close();
});

const { index } = readOpenApi(api.spec.document ?? '');

const send =
  (given: string): SendStep =>
  ({ operationId, body, signal }) => {
    const { method = '', path = '' } = index?.operations.get(operationId) ?? {};
    const headers = { 'content-type': 'application/json', 'x-api-key': given };
    const target = { tenant: 'acme', method: method.toUpperCase(), server: url, path, headers, body };
    return upstream.send({ ...target, allowedNetworks: ['127.0.0.0/8'], responseBytes: 65_536, signal });
  };

const place = (input: object, given = key) =>
  runToolChain(
    {
      clock: systemClock,
      logger: silentLogger,
      limits: chainLimitsDefault,
      send: send(given),
      inTurn: turns.of('acme'),
      observer: {
        stepReached: () => undefined,
        stepStarted: async () => undefined,
        stepExecuted: async () => undefined,
      },
    },
    chain.spec.steps,
    input,
    { signal: new AbortController().signal },
  );

describe('the example of the tool gateway', () => {
  it('is valid, each object of it', () => {
    expect(validateSpec.ApiSpec(api.spec)).toEqual([]);
    expect(validateSpec.ToolWorkflow(chain.spec)).toEqual([]);
    expect(checkToolWorkflow(chain.spec, { isObject: true })).toEqual([]);
    expect(checkAgent(agent.spec)).toEqual([]);
    expect(api.spec.credentials).toMatchObject({ kind: 'api_key_header' });
    for (const { metadata } of [api, chain, context]) expect(metadata.name).toMatch(/^[a-z0-9-]+$/);
  });

  it('chains five operations of its document, by a name that context and agent permit', () => {
    const operations = chain.spec.steps.map(({ operation_id: id }) => id);
    expect(new Set(operations)).toEqual(new Set(index?.operations.keys()));
    expect(operations).toHaveLength(5);
    const name = chain.spec.name ?? '';
    expect(matchesAny(context.spec.tools ?? [], name)).toBe(true);
    expect(agent.spec).toMatchObject({ tools: [{ name }], security: { context: context.metadata.name } });
  });

  it('orders at its server', async () => {
    const outcome = await place({ customer: 'ada', item: 'tea', quantity: 2 });
    const result: unknown = outcome.kind === 'completed' ? JSON.parse(outcome.result.toString()) : outcome;
    expect({ ...outcome, result }).toMatchObject({
      kind: 'completed',
      result: { customer: 'ada', total: 810, status: 'confirmed', number: '2026-0001' },
      state: { 'order.total': 810 },
    });
  });

  it.each<[string, object, string, string]>([
    ['an item of which too few are left', { customer: 'ada', item: 'ink', quantity: 4 }, key, 'reservation'],
    ['another key', { customer: 'ada', item: 'tea', quantity: 1 }, 'other', 'customer'],
    ['an unknown customer', { customer: 'eve', item: 'tea', quantity: 1 }, key, 'customer'],
  ])('fails for %s', async (_title, input, given, step) => {
    expect(await place(input, given)).toMatchObject({ kind: 'failed', step });
  });

  it('writes each request down, and no key', () => {
    const lines = log.trim().split('\n').slice(1);
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ operation: 'POST /orders' }),
    );
    expect(log).not.toContain(key);
  });
});
