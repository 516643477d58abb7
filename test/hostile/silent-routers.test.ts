import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { memoryUsage } from 'node:process';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createIngest } from '../../api/ingest/create-ingest.ts';
import type { Routing } from '../../api/ingest/decide-route.ts';
import { createRouterAgent } from '../../api/ingest/router-agent.ts';
import { createStimuliRoutes } from '../../api/routes/stimuli/index.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { systemClock } from '../../lib/clock.ts';
import { bodyLimits } from '../../lib/http/body-limits.ts';
import type { Route } from '../../lib/http/route.ts';
import type { Caller } from '../../lib/identity/index.ts';
import { collectGarbage } from '../../lib/process/collect-garbage.ts';
import { requestText, sendRaw, startTestServer, type TestCaller, type TestServer } from '../support/http-server.ts';
import { silentLogger } from '../support/silent-logger.ts';

/**
 * The attackers may send stimuli in tenants a and b, whose sources have no route and whose router agents never answer. Each
 * stimulus waits 25 s for one.
 */
const mib = 1_048_576;
const large = 'x'.repeat(900_000);
/** More than half of the memory for bodies takes. */
const many = Math.ceil(bodyLimits.raw.bearer / 2 / large.length) + 2;

interface Asked {
  readonly tenant: string;
  readonly execution: AgentExecution;
}

let server: TestServer;
let asked: Map<string, Asked>;
let sockets: Socket[];
let answers: { readonly tenant: string; readonly text: string }[];

function routesOf(): Route<TestCaller>[] {
  const never = (): never => {
    throw new Error('it must not be asked');
  };
  const kube = {
    async create(_kind: unknown, object: AgentExecution) {
      if (object.kind !== 'AgentExecution') return { ...object, metadata: { ...object.metadata, uid: randomUUID() } };
      const execution = { metadata: { ...object.metadata, uid: randomUUID() }, spec: {} } as AgentExecution;
      asked.set(execution.metadata.uid ?? '', { tenant: object.metadata.namespace ?? '', execution });
      return execution;
    },
    get: never,
    mergePatch: async () => undefined,
  };
  const current = (uid: string): AgentExecution | undefined => asked.get(uid)?.execution;
  const cluster = {
    agents: { locate: async () => ({ metadata: { name: 'triage', uid: 'u' } }) },
    agentExecutions: { remember: () => undefined, whole: async () => undefined },
    workflows: { list: () => [] },
  };
  const workflow = { metadata: { name: 'w', namespace: 'c', uid: randomUUID() }, spec: {}, status: {} };
  const ingest = createIngest({
    kube: kube as never,
    clock: systemClock,
    logger: silentLogger,
    newStimulusId: randomUUID,
    table: {
      find: async (source, tenant = '') => ({ tenant, namespace: tenant, routing: routing(source) }),
      tenantOf: never,
    },
    workflows: { find: async () => workflow as never },
    executions: { remember: () => undefined },
    reservations: { isTaken: never, acquire: never, renew: never, settle: never, release: never },
    deliveries: { accept: never, release: never },
    settler: { settle: never, resume: never, run: never },
    events: { raise: () => undefined },
    classifier: createRouterAgent({ kube, clock: systemClock, cluster, current } as never),
  });
  return createStimuliRoutes({ ingest, clock: systemClock }) as Route<Caller & TestCaller>[] as Route<TestCaller>[];
}

const routing = (source: string): Routing =>
  source === 'routed'
    ? { workflow: 'w', confidenceThreshold: 0.7 }
    : { routerAgent: 'triage', confidenceThreshold: 0.7 };

beforeEach(async () => {
  asked = new Map();
  sockets = [];
  answers = [];
  server = await startTestServer(routesOf(), {
    authenticate: async ({ authorization = '' }) => {
      const name = authorization.replace('Bearer ', '');
      return { name, tenant: name };
    },
  });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

const requestOf = (tenant: string, source: string, content: string): string =>
  requestText(
    'POST /v1/stimuli',
    [`Authorization: Bearer ${tenant}`, 'Content-Type: application/json'],
    JSON.stringify({ source, content }),
  );

const post = (tenant: string, source: string, content: string) =>
  sendRaw(server.port, requestOf(tenant, source, content));

/** A sender that can hang up. */
function send(tenant: string, source: string, content: string): Socket {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(requestOf(tenant, source, content));
  socket.on('data', (chunk) => void answers.push({ tenant, text: chunk.toString() }));
  sockets.push(socket);
  return socket;
}

const ofTenant = (tenant: string): number => [...asked.values()].filter((one) => one.tenant === tenant).length;

it('stimuli of two tenants that wait for a silent router agent leave large bodies of others room', async () => {
  for (let sent = 0; sent < many; sent += 1) for (const tenant of ['a', 'b']) send(tenant, 'unrouted', large);
  const refusalOf = (tenant: string) =>
    answers.find((one) => one.tenant === tenant && one.text.includes('wait for a router agent'))?.text;
  await expect.poll(() => ['a', 'b'].every(refusalOf), { timeout: 20_000 }).toBe(true);
  expect(refusalOf('a')).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 5\r\n/i);
  expect(Math.min(ofTenant('a'), ofTenant('b'))).toBeGreaterThan(1);
  for (let sent = 0; sent < 4; sent += 1) expect((await post('c', 'routed', large)).status).toBe(200);
}, 60_000);

it('a stimulus that waits for a router agent is held as a text', async () => {
  // The values take some 7 MB of heap.
  const content = JSON.stringify(Array.from({ length: 110_000 }, () => ({})));
  collectGarbage();
  const before = memoryUsage().heapUsed;
  for (let sent = 1; sent <= 5; sent += 1) {
    send('a', 'unrouted', content);
    await expect.poll(() => asked.size, { timeout: 20_000 }).toBe(sent);
  }
  collectGarbage();
  expect((memoryUsage().heapUsed - before) / mib).toBeLessThan(15);
}, 60_000);

it('ROUTE-16 a sender that hangs up again and again asks no more questions than one that waits', async () => {
  const places = 128;
  for (let sent = 0; sent < places; sent += 1) {
    const before = asked.size;
    const socket = send('a', 'unrouted', 'Help!');
    const answered = new Promise<boolean>((resolve) => void socket.once('data', () => resolve(true)));
    while (asked.size === before && !(await Promise.race([answered, systemClock.sleep(5).then(() => false)])));
    socket.destroy();
  }
  expect(asked.size).toBeLessThan(places);
  expect((await post('a', 'unrouted', 'Help!')).status).toBe(503);
  send('b', 'unrouted', 'Help!');
  await expect.poll(() => ofTenant('b')).toBe(1);
}, 60_000);
