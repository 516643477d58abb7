import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ToolStep } from '../../crds/schema/tool-workflow.ts';
import { createSendStep } from '../../gateway/tools/send-step.ts';
import { systemClock } from '../../lib/clock.ts';
import { createReadingTurns } from '../../lib/tool-chain/reading-turns.ts';
import { type ChainOutcome, runToolChain } from '../../lib/tool-chain/run-tool-chain.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { collectGarbage } from '../../lib/process/collect-garbage.ts';
import { answerLimits, chainLimitsDefault } from '../../lib/tool-chain/limits.ts';
import { type AnswerRoom, createAnswerRoom, memoryOf, type Taken } from '../../lib/tools/web/answer-room.ts';
import { mediumBytes } from '../../lib/tools/web/read-response.ts';
import { createUpstream, type Upstream } from '../../lib/upstream/index.ts';
import { silentLogger } from '../support/silent-logger.ts';

/**
 * The attacker registers tools whose upstream answers as much as it may, and lets many calls wait between their steps. The
 * memory that each of them holds must be counted until it is let go.
 */
const large = JSON.stringify('x'.repeat(2_000_000));
/** 441 KB of JSON, of which the values take 11 MB of heap. */
const nested = `{"x":[${Array(49_000).fill('[[[[]]]]').join(',')}]}`;
const slow = new Set<ServerResponse>();
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  large: (response) => void response.end(large),
  small: (response) => void response.end('{}'),
  nested: (response) => void response.end(nested),
  slow: (response) => {
    response.write(' ');
    slow.add(response);
  },
  broken: (response) => void response.end(`${large},`),
  cut: (response) => {
    response.writeHead(200, { 'content-length': 9_000_000 });
    response.write(large, () => response.destroy());
  },
};

let server: Server;
let upstream: Upstream;
let log: string[];
beforeAll(async () => {
  upstream = createUpstream({ clock: systemClock, resolve: async () => [] });
  server = createServer((request, response) => {
    request.resume().on('end', () => answers[request.url?.slice(1) ?? '']?.(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  await upstream.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  log = [];
});

/** Notes what each response takes, keeps and gives back, by the number of the response. */
function notedRoom(): AnswerRoom {
  let count = 0;
  return {
    of({ tenant, cost }) {
      const number = (count += 1);
      let isTaken = false;
      const note = (text: string): void => void (isTaken && log.push(`${number} ${text}`));
      return {
        async grow(bytes = Number.POSITIVE_INFINITY) {
          if (isTaken || bytes <= mediumBytes) return;
          isTaken = true;
          note(`${tenant} takes ${cost}`);
        },
        async hold(bytes) {
          if (isTaken) return;
          isTaken = true;
          note(`${tenant} takes ${bytes}`);
        },
        keep: (bytes) => note(`keeps ${bytes}`),
        [Symbol.dispose]: () => note('gives back'),
      };
    },
  };
}

const run = (...names: readonly string[]): Promise<ChainOutcome> => call({ room: notedRoom() }, names);

interface Call {
  readonly room: AnswerRoom;
  readonly tenant?: string;
  readonly signal?: AbortSignal;
  readonly fields?: Partial<ToolStep>;
}

/** The digits of a step's name are no part of its operation. */
function call({ room, tenant = 'acme', signal, fields }: Call, names: readonly string[]): Promise<ChainOutcome> {
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paths = names.map((name) => name.replace(/\d/, ''));
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
    limits: chainLimitsDefault,
    send: createSendStep(upstream, target),
    inTurn: createReadingTurns(systemClock).of(tenant),
    observer: {
      stepReached: () => undefined,
      stepStarted: async () => undefined,
      stepExecuted: async (name: string) => void log.push(`${name} is done`),
    },
  };
  const steps = names.map(
    (name, index): ToolStep => ({
      name,
      operation_id: paths[index] ?? '',
      body_template: '{}',
      on_error: 'Continue',
      ...fields,
    }),
  );
  return runToolChain(deps, steps, {}, { signal: signal ?? new AbortController().signal });
}

const all = `takes ${memoryOf(chainLimitsDefault.responseBytes)}`;

it('a large response is counted as what it may take while it is read, then as what is kept, until another one replaces it', async () => {
  expect(await run('large', 'small', 'large')).toMatchObject({ kind: 'completed' });
  expect(log).toEqual([
    `1 acme ${all}`,
    `1 keeps ${large.length + 32}`,
    'large is done',
    '1 gives back',
    'small is done',
    `3 acme ${all}`,
    `3 keeps ${large.length + 32}`,
    'large is done',
    '3 gives back',
  ]);
});

it('one that cannot be read is let go at once, and what was the result before stays counted', async () => {
  await run('large', 'broken', 'cut');
  expect(log).toEqual([
    `1 acme ${all}`,
    `1 keeps ${large.length + 32}`,
    'large is done',
    `2 acme ${all}`,
    '2 gives back',
    'broken is done',
    `3 acme ${all}`,
    '3 gives back',
    'cut is done',
    '1 gives back',
  ]);
});

const heapUsed = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};
/** As a replica with the memory of the chart has it: three quarters of 768 MiB are heap. */
const poolBytes = bytesOf('answers of upstreams', 576 * 1024 * 1024);
const lets = { extractors: { v: '$.x' }, on_error: 'AbortWorkflow' } as const;
/** The outcome is let go. */
const kindOf = (outcome: Promise<ChainOutcome>): Promise<string> => outcome.then(({ kind }) => kind);
const untilSlow = (count: number) => expect.poll(() => slow.size, { timeout: 20_000 }).toBe(count);
const endSlow = (): void => {
  for (const response of slow) response.end('{}');
  slow.clear();
};

/** A room of the pool that a replica with the memory of the chart has; and what it counts. */
function countedRoom(): { readonly room: AnswerRoom; readonly used: () => number } {
  const pool = createAnswerRoom({ clock: systemClock, size: poolBytes });
  const held = new Map<object, number>();
  const of: AnswerRoom['of'] = (answer) => {
    const taken = pool.of(answer);
    const counted: Taken = {
      async grow(bytes = Number.POSITIVE_INFINITY) {
        await taken.grow(bytes);
        held.set(counted, Math.max(held.get(counted) ?? 0, bytes > mediumBytes ? answer.cost : bytes));
      },
      async hold(cost) {
        await taken.hold(cost);
        held.set(counted, Math.max(held.get(counted) ?? 0, cost));
      },
      keep(cost) {
        taken.keep(cost);
        held.set(counted, Math.min(held.get(counted) ?? 0, cost));
      },
      [Symbol.dispose]() {
        taken[Symbol.dispose]();
        held.delete(counted);
      },
    };
    return counted;
  };
  return { room: { of }, used: () => [...held.values()].reduce((sum, cost) => sum + cost, 0) };
}

it.each([
  ['as the result', ['nested', 'slow'], { on_error: 'AbortWorkflow' }],
  ['by extractors', ['nested1', 'nested2', 'slow'], lets],
] as const)(
  'a response below a mebibyte counts as the heap that its values take, until the chain ends: kept %s',
  async (_, names, fields) => {
    const { room, used } = countedRoom();
    expect(await kindOf(call({ room, fields }, ['nested', 'small']))).toBe('completed');
    const before = heapUsed();
    const ended = call({ room, fields }, names);
    await untilSlow(1);
    const grown = heapUsed() - before;
    expect(grown).toBeGreaterThan(8_000_000 * (names.length - 1));
    expect(used()).toBeGreaterThanOrEqual(grown);
    endSlow();
    expect(await ended).toMatchObject({ kind: 'completed', result: {} });
    expect(used()).toBe(0);
  },
);

it('a chain that would keep more than one call may ends at the step, and says the bound and what to do', async () => {
  const { room, used } = countedRoom();
  const names = Array.from({ length: 9 }, (_, index) => `nested${index + 1}`);
  expect(await call({ room, fields: lets }, [...names, 'slow'])).toEqual({
    kind: 'failed',
    step: 'nested3',
    reason:
      `the response and the values extracted before it take more than ${answerLimits.heapBytes} bytes of memory; ` +
      'ask for fewer objects and lists, or extract less',
  });
  expect(used()).toBe(0);
});

it('twelve chains of one tenant, each with a large response and a slow step, leave the heap bounded, and another tenant served', async () => {
  const { room, used } = countedRoom();
  const over = new AbortController();
  const before = heapUsed();
  const hostile = Array.from({ length: 12 }, () =>
    call({ room, fields: lets, signal: over.signal }, ['nested', 'slow']).catch(() => undefined),
  );
  await untilSlow(3);
  expect(await call({ room, tenant: 'globex', fields: lets }, ['nested', 'small'])).toMatchObject({
    kind: 'completed',
  });
  expect(heapUsed() - before).toBeLessThan(poolBytes);
  expect(used()).toBeLessThanOrEqual(poolBytes);
  over.abort();
  await Promise.all(hostile);
  endSlow();
  expect(used()).toBe(0);
});
