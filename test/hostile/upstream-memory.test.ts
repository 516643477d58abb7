import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ToolStep } from '../../crds/schema/tool-workflow.ts';
import { createSendStep } from '../../gateway/tools/send-step.ts';
import { systemClock } from '../../lib/clock.ts';
import { chainLimitsDefault } from '../../lib/tool-chain/limits.ts';
import { createReadingTurns } from '../../lib/tool-chain/reading-turns.ts';
import { type ChainOutcome, runToolChain } from '../../lib/tool-chain/run-tool-chain.ts';
import { type AnswerRoom, memoryOf } from '../../lib/tools/web/answer-room.ts';
import { createUpstream, type Upstream } from '../../lib/upstream/index.ts';
import { silentLogger } from '../support/silent-logger.ts';

/**
 * The attacker registers tools whose upstream answers as much as it may, and lets many calls wait between their steps. The
 * memory that each of them holds must be counted until it is let go.
 */
const large = JSON.stringify('x'.repeat(2_000_000));
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  large: (response) => void response.end(large),
  small: (response) => void response.end('{}'),
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
        async grow() {
          if (isTaken) return;
          isTaken = true;
          note(`${tenant} takes ${cost}`);
        },
        keep: (bytes) => note(`keeps ${bytes}`),
        [Symbol.dispose]: () => note('gives back'),
      };
    },
  };
}

function run(...names: readonly string[]): Promise<ChainOutcome> {
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const operations = new Map(names.map((name) => [name, { method: 'post', server: base, path: `/${name}` }]));
  const target = {
    api: { spec: { allow_internal_addresses: ['127.0.0.0/8'] } } as never,
    index: { server: base, operations } as never,
    credential: { headers: {}, secrets: [] },
    tenant: 'acme',
    responseBytes: chainLimitsDefault.responseBytes,
    room: notedRoom(),
  };
  const deps = {
    clock: systemClock,
    logger: silentLogger,
    limits: chainLimitsDefault,
    send: createSendStep(upstream, target),
    inTurn: createReadingTurns(systemClock).of('acme'),
    observer: {
      stepReached: () => undefined,
      stepStarted: async () => undefined,
      stepExecuted: async (name: string) => void log.push(`${name} is done`),
    },
  };
  const steps = names.map(
    (name): ToolStep => ({ name, operation_id: name, body_template: '{}', on_error: 'Continue' }),
  );
  return runToolChain(deps, steps, {}, { signal: new AbortController().signal });
}

const all = `takes ${memoryOf(chainLimitsDefault.responseBytes)}`;

it('a large response is counted as what it may take while it is read, then as what is kept, until another one replaces it', async () => {
  expect(await run('large', 'small', 'large')).toMatchObject({ kind: 'completed' });
  expect(log).toEqual([
    `1 acme ${all}`,
    `1 keeps ${large.length}`,
    'large is done',
    '1 gives back',
    'small is done',
    `3 acme ${all}`,
    `3 keeps ${large.length}`,
    'large is done',
    '3 gives back',
  ]);
});

it('one that cannot be read is let go at once, and what was the result before stays counted', async () => {
  await run('large', 'broken', 'cut');
  expect(log).toEqual([
    `1 acme ${all}`,
    `1 keeps ${large.length}`,
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
