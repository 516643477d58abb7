import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ApiProxy, startApiProxy } from '../harness/api-proxy.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { isWrite } from '../harness/exchange.ts';
import { buildDir } from '../harness/project.ts';
import type { Received } from './harness/index.ts';
import { type StimuliWorld, startStimuliWorld } from './stimuli-world.ts';

/** The account of the API; the proxy asks the real server in its name. */
const account = {
  user: 'system:serviceaccount:windlass-system:windlass-api',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:windlass-system', 'system:authenticated'],
};

let proxy: ApiProxy;
let world: StimuliWorld;
let ada: string;

beforeAll(async () => {
  const kubeconfig = join(buildDir, 'api-outage-proxy.kubeconfig');
  proxy = await startApiProxy({ upstream: kubeconfigPath(), kubeconfig, as: account });
  world = await startStimuliWorld(['outages'], { purpose: 'api-outage', env: { KUBECONFIG: proxy.kubeconfig } });
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  await world.workflow('answer');
  await world.router('routes', { routes: { outages: 'answer', http_api: 'answer' } });
});
afterEach(async () => {
  proxy.setRules({});
  await proxy.comeUp();
});
afterAll(async () => {
  await world?.close();
  await proxy?.close();
});

const start = (intent: string): Promise<Received> =>
  world.http('/v1/workflows/executions', { token: ada, body: { workflow: 'answer', intent } });

/** A manifest whose name is that of the round. */
const manifest = (round: string): string =>
  JSON.stringify({
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name: round.replaceAll(/[^a-z]+/g, '-'), version: '1.0.0' },
    spec: { initial_state: 'end', states: { end: { kind: 'System', command: 'finalize', transitions: [] } } },
  });

/** Calls that write. */
const writes: readonly (readonly [what: string, send: (round: string) => Promise<Received>])[] = [
  ['a start', (round) => start(`start ${round}`)],
  [
    'a registration',
    (round) =>
      world.http('/v1/workflows/register', {
        token: ada,
        headers: { 'content-type': 'application/json' },
        body: manifest(round),
      }),
  ],
  ['a stimulus', (round) => world.submit({ source: 'http_api', content: `stimulus ${round}` })],
  ['a webhook', (round) => world.webhook('outages', `webhook ${round}`)],
];

interface Timed {
  readonly answer: Received;
  readonly ms: number;
}

async function timed(call: Promise<Received>): Promise<Timed> {
  const started = Date.now();
  const answer = await call;
  return { answer, ms: Date.now() - started };
}

/** Inputs of the tenant's executions. */
const intents = async (): Promise<(string | undefined)[]> => (await world.executions()).map(({ spec }) => spec.intent);

describe('an API server that is away', () => {
  it.each(writes)('%s is answered 503 with Retry-After at once, and nothing of it comes later', async (what, send) => {
    await proxy.goDown();
    const { answer, ms } = await timed(send(`while away: ${what}`));
    expect([answer.status, answer.json()]).toEqual([
      503,
      {
        error: 'unavailable',
        code: 'unavailable',
        message: 'something that this needs cannot be reached; try again',
      },
    ]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(ms).toBeLessThan(5_000);
    await proxy.comeUp();
    expect((await intents()).filter((intent) => intent?.includes('while away'))).toEqual([]);
  });

  it('what is known is still read, and health says that the process is well', async () => {
    await proxy.goDown();
    const list = await timed(world.http('/v1/workflows/executions', { token: ada }));
    expect([list.answer.status, list.ms < 1_000]).toEqual([200, true]);
    const workflow = await world.http('/v1/workflows/answer', { token: ada });
    expect(workflow.status).toBe(200);
    expect((await world.http('/health')).status).toBe(200);
  });

  it('an id that is not known is no 404, as the API cannot tell that it is not there', async () => {
    await proxy.goDown();
    const path = '/v1/workflows/executions/6c0a3c52-8a52-4a8e-9c0e-6d7d6a0c9f11';
    const { answer, ms } = await timed(world.http(path, { token: ada }));
    expect([answer.status, ms < 5_000]).toEqual([503, true]);
  });

  it('everything works as soon as it is back', async () => {
    await proxy.goDown();
    expect((await start('x')).status).toBe(503);
    await proxy.comeUp();
    const back = Date.now();
    await expect.poll(async () => (await start('after')).status, { timeout: 20_000, interval: 100 }).toBe(200);
    expect(Date.now() - back).toBeLessThan(10_000);
    for (const [what, send] of writes) expect([what, (await send(`after: ${what}`)).status]).toEqual([what, 200]);
  });
});

describe('an API server that is silent', () => {
  it('every write is answered 503 or 504 within fifteen seconds', async () => {
    proxy.setRules({ before: (exchange) => (isWrite(exchange) ? new Promise(() => undefined) : 'forward') });
    const answers = await Promise.all(writes.map(([what, send]) => timed(send(`while silent: ${what}`))));
    expect(answers.map(({ answer, ms }) => [answer.status, answer.json(), ms < 15_000])).toEqual(
      writes.map(() => [
        expect.toBeOneOf([503, 504]),
        expect.objectContaining({ error: expect.toBeOneOf(['unavailable', 'timeout']) }),
        true,
      ]),
    );
  }, 60_000);
});

describe('an API server whose answer is lost', () => {
  it('a start with a key is made once, however often it is sent', async () => {
    let lost = 0;
    proxy.setRules({
      after: (exchange) => {
        if (exchange.method !== 'POST' || !exchange.path.includes('workflowexecutions') || lost >= 3) return 'send';
        lost += 1;
        return 'reset';
      },
    });
    const headers = { 'idempotency-key': 'lost-answer' };
    const body = { workflow: 'answer', intent: 'lost answer' };
    const send = () => world.http('/v1/workflows/executions', { token: ada, headers, body });
    await expect.poll(async () => (await send()).status, { timeout: 20_000 }).toBe(200);
    expect(lost).toBeGreaterThan(0);
    expect((await intents()).filter((intent) => intent === 'lost answer')).toHaveLength(1);
  });
});
