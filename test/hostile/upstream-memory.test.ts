import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { OnError, ToolStep } from '../../crds/schema/tool-workflow.ts';
import { createSendStep } from '../../gateway/tools/send-step.ts';
import { systemClock } from '../../lib/clock.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { collectGarbage } from '../../lib/process/collect-garbage.ts';
import { answerLimits, chainLimitsDefault } from '../../lib/tool-chain/limits.ts';
import { createReadingTurns, type ReadingTurns } from '../../lib/tool-chain/reading-turns.ts';
import { type ChainOutcome, runToolChain } from '../../lib/tool-chain/run-tool-chain.ts';
import { createUpstreamRoom, type UpstreamRoom } from '../../lib/tools/web/upstream-room.ts';
import { createUpstream, type Upstream } from '../../lib/upstream/index.ts';
import { silentLogger } from '../support/silent-logger.ts';

/**
 * The attacker registers tools whose upstream answers as much as it may, and lets many calls wait between their steps. No call
 * of another tenant waits for what those keep, and no request is sent twice for want of memory.
 */
const mebibyte = 1_048_576;
/** As a replica with the memory of the chart has it: three quarters of 768 MiB are heap. */
const poolBytes = bytesOf('answers of upstreams', 576 * mebibyte);
/** The largest body, of which the values take 3 MB. */
const fat = Buffer.from(`${' '.repeat(9 * mebibyte)}[${Array(8_000).fill('{"1":0}').join(',')}]`);
/** 140 KB, of which the values take 5 MB. */
const dear = `[${Array(14_000).fill('{"1":0}').join(',')}]`;
/** The values take more than one response may. */
const many = `[${Array(80_000).fill('{"1":0}').join(',')}]`;
const open = new Set<ServerResponse>();
const sent = new Map<string, number>();
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  small: (response) => void response.end('{}'),
  dear: (response) => void response.end(dear),
  many: (response) => void response.end(many),
  two: (response) => void response.end(JSON.stringify('x'.repeat(2_000_000))),
  fat: (response) => void response.end(fat),
  /** More than a mebibyte has come, and the rest does not. */
  trickle: (response) => {
    response.write(' '.repeat(1.2 * mebibyte));
    open.add(response);
  },
  slow: (response) => {
    response.write(' ');
    open.add(response);
  },
};

let server: Server;
let upstream: Upstream;
let room: UpstreamRoom;
let turns: ReadingTurns;
beforeAll(async () => {
  upstream = createUpstream({ clock: systemClock, resolve: async () => [] });
  server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? '';
    sent.set(name, (sent.get(name) ?? 0) + 1);
    request.resume().on('end', () => answers[name]?.(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  await upstream.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  open.clear();
  sent.clear();
  room = createUpstreamRoom({ clock: systemClock, size: poolBytes });
  turns = createReadingTurns(systemClock);
});

interface Call {
  readonly tenant?: string;
  readonly signal?: AbortSignal;
  readonly stepMs?: number;
  readonly onError?: OnError;
}

const never = new AbortController().signal;
const lets = { v: '$' };

/** A step whose name ends with a digit extracts all of its response. */
function outcomeOf(names: readonly string[], call: Call = {}): Promise<ChainOutcome> {
  const { tenant = 'acme', signal = never, stepMs = 20_000, onError = 'AbortWorkflow' } = call;
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paths = names.map((name) => name.replace(/\d$/, ''));
  const operations = new Map(paths.map((path) => [path, { method: 'post', server: base, path: `/${path}` }]));
  const target = {
    api: { spec: { allow_internal_addresses: ['127.0.0.0/8'] } } as never,
    index: { server: base, operations } as never,
    credential: { headers: {}, secrets: [] },
    tenant,
    responseBytes: chainLimitsDefault.responseBytes,
    room,
  };
  const deps = {
    clock: systemClock,
    logger: silentLogger,
    limits: { ...chainLimitsDefault, stepMs },
    send: createSendStep(upstream, target),
    inTurn: turns.of(tenant),
    part: room.keptBy(tenant),
    observer: {
      stepReached: () => undefined,
      stepStarted: async () => undefined,
      stepExecuted: async () => undefined,
    },
  };
  const steps = names.map(
    (name, index): ToolStep => ({
      name,
      operation_id: paths[index] ?? '',
      body_template: '{}',
      on_error: onError,
      ...(/\d$/.test(name) && { extractors: lets }),
    }),
  );
  return runToolChain(deps, steps, {}, { signal });
}

/** The reason, or that it is completed. Its memory is given back. */
async function run(names: readonly string[], call: Call = {}): Promise<string> {
  const outcome = await outcomeOf(names, call);
  if (outcome.kind === 'failed') return outcome.reason;
  outcome.held[Symbol.dispose]();
  return outcome.kind;
}

/** Runs hostile chains until `task` has ended, and waits for their ends. */
async function beside(hostile: (signal: AbortSignal) => Promise<unknown>[], task: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const chains = hostile(over.signal).map((chain) => chain.catch(() => undefined));
  try {
    await task();
  } finally {
    over.abort();
    await Promise.all(chains);
    for (const response of open) response.destroy();
  }
}

const untilOpen = (count: number) => expect.poll(() => open.size, { timeout: 20_000 }).toBe(count);

it.each([
  ['of one tenant', 'acme'],
  ['of two tenants', 'globex'],
])('GW-WF-33 chains %s that keep much do not wait for each other, and send each step once', async (_, tenant) => {
  const onError = { RetryN: 1 };
  const chains = ['acme', tenant].map((one) =>
    run(['small', 'dear1', 'two'], { tenant: one, onError, stepMs: 15_000 }),
  );
  const [mine, other] = await Promise.all(chains);
  // One tenant keeps six mebibytes between its steps: the second chain fails where it would wait.
  const refused = 'the gateway keeps what other calls need between their steps; the step was sent';
  expect([mine, other].toSorted((one, next) => String(one).localeCompare(String(next)))).toEqual([
    'completed',
    tenant === 'acme' ? refused : 'completed',
  ]);
  expect(sent.get('dear')).toBe(2);
  expect(sent.get('two')).toBe(tenant === 'acme' ? 1 : 2);
  expect(await run(['dear1', 'two'])).toBe('completed');
});

it('GW-WF-33 a step whose response finds no room says so, and is not sent again', async () => {
  const hostile = (signal: AbortSignal) => [run(['trickle'], { signal })];
  await beside(hostile, async () => {
    await untilOpen(1);
    await systemClock.sleep(500);
    const reason = await run(['small', 'fat'], { onError: { RetryN: 3 }, stepMs: 3_000 });
    expect(reason).toContain('answered, and the gateway had no room for the response');
    expect(sent.get('fat')).toBe(1);
  });
  expect(await run(['fat'])).toBe('completed');
});

it('GW-WF-31 another tenant has room for the largest response, and keeps what it may, beside chains that end no response', async () => {
  const hostile = (signal: AbortSignal) =>
    [['dear1', 'slow'], ['dear1', 'trickle'], ['trickle'], ['trickle'], ['small', 'trickle']].map((names) =>
      run(names, { signal, onError: 'Continue' }),
    );
  await beside(hostile, async () => {
    await untilOpen(5);
    await systemClock.sleep(500);
    expect(await run(['fat', 'dear1', 'fat', 'two'], { tenant: 'globex', stepMs: 20_000 })).toBe('completed');
  });
});

it('GW-WF-31 a dozen bodies of ten megabytes take no more than a room has', async () => {
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const look = setInterval(() => {
    collectGarbage();
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 500);
  const ended = await Promise.all(Array.from({ length: 12 }, () => run(['fat', 'small'], { stepMs: 100_000 })));
  clearInterval(look);
  expect(new Set(ended)).toEqual(new Set(['completed']));
  // Beside them, the bytes of this server, and pieces of each connection.
  expect(most).toBeLessThan(poolBytes / 2);
}, 120_000);

it('a response whose values take more than one may, and a call that keeps more, end at the step and say the bound', async () => {
  expect(await run(['many'])).toContain(`take more than ${answerLimits.heapBytes} bytes of memory`);
  expect(await run(['dear1', 'dear2'])).toContain(`takes more than ${answerLimits.keptBytes} bytes of memory`);
  expect(await run(['dear1', 'small'])).toBe('completed');
});
