import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEnd, aQuestion, aWorkflow } from '../../builders/workflow-builder.ts';
import { ensureWorkflow, startExecution, waitUntilWaiting } from '../harness/executions.ts';
import { type ApiWorld, startApiWorld } from './harness/index.ts';

let world: ApiWorld;
let ada: string;

beforeAll(async () => {
  // The event bus is away from first to last: nothing listens on that port.
  world = await startApiWorld({
    purpose: 'api-service',
    nats: false,
    env: { WINDLASS_NATS_URL: 'nats://127.0.0.1:1', WINDLASS_DRAIN_SECONDS: '1' },
  });
  ada = await world.token({ user: 'ada', tenant: world.tenant });
});
afterAll(() => world?.close());

const replica = () => {
  const [first] = world.replicas;
  if (first === undefined) throw new Error('there is no replica');
  return first;
};
const internal = (path: string): Promise<Response> => fetch(`${replica().internalUrl}${path}`);

describe('the listeners', () => {
  it('GEN-09 ORCH-AUTH-04 answer /health without a token, exactly', async () => {
    const answer = await world.http('/health');
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
      200,
      '{"status":"ok"}',
      'application/json',
    ]);
    expect(await (await internal('/health')).text()).toBe('{"status":"ok"}');
  });

  it('GEN-04 know no path outside /v1 but the service’s own', async () => {
    for (const path of ['/workflows', '/v2/workflows', '/v1', '/v1/', '/ready', '/metrics'])
      expect((await world.http(path, { token: ada })).status).toBe(404);
  });

  it('lead from / to the documentation', async () => {
    const root = await world.http('/');
    expect([root.status, root.json()]).toEqual([200, { name: 'windlass', docs: '/docs', openapi: '/openapi.json' }]);
    const browser = await world.http('/', { headers: { accept: 'text/html' } });
    expect([browser.status, browser.headers['location']]).toEqual([302, '/docs']);
  });

  it('ORCH-AUTH-03 AMB-039 hide the dispatch gateway from outside', async () => {
    const answer = await world.http('/v1/dispatch-gateway', { body: { type: 'generate' }, token: ada });
    expect(answer.status).toBe(404);
    expect((await world.http('/v1/seal/attest', { body: {}, token: ada })).status).toBe(404);
  });

  it('tell the cluster that the replica is ready, and what it has counted', async () => {
    expect(await (await internal('/ready')).json()).toEqual({ status: 'ready' });
    await world.http('/v1/workflows/executions?secret=hush', { token: ada });
    const metrics = await (await internal('/metrics')).text();
    expect(metrics).toMatch(/windlass_http_requests_total\{operation="listExecutions",method="GET",status="400"\} \d+/);
    expect(metrics).toContain('rest_client_requests_total{verb="watch"');
    expect(metrics).not.toMatch(/hush|Bearer/);
  });

  it('do not serve what is internal to tokens either', async () => {
    expect((await fetch(`${replica().internalUrl}/v1/workflows`)).status).toBe(404);
  });
});

describe('without the event bus', () => {
  it('reads are answered, and the replica is ready', async () => {
    const { workflows } = (await world.http('/v1/workflows', { token: ada })).json<{
      workflows: { scope: string }[];
    }>();
    expect(workflows.filter(({ scope }) => scope !== 'global')).toEqual([]);
    expect((await world.http('/v1/workflows/executions', { token: ada })).json()).toMatchObject({ executions: [] });
    expect((await world.http('/v1/human-approvals', { token: ada })).json()).toEqual({ pending_requests: [] });
    expect((await internal('/ready')).status).toBe(200);
  });

  it('what needs it answers 503 with Retry-After', async () => {
    const body = { source: 'http_api', content: 'x', idempotency_key: 'k' };
    const answer = await world.http('/v1/stimuli', { token: ada, body });
    expect([answer.status, answer.json()]).toEqual([
      503,
      {
        error: 'unavailable',
        code: 'unavailable',
        message: 'something that this needs cannot be reached; try again',
      },
    ]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('a replica that stops', () => {
  it('says so first, answers what is under way, ends streams whole, and exits with 0', async () => {
    const { kube, tenant: namespace } = world;
    const workflow = aWorkflow('gate')
      .state('ask', aQuestion('Go on?', { yes: 'done', no: 'done' }))
      .state('done', anEnd())
      .build();
    await ensureWorkflow(kube, { ...workflow, metadata: { ...workflow.metadata, namespace } });
    const { metadata } = await startExecution(kube, { namespace, name: 'asks' }, { workflow: 'gate' });
    await waitUntilWaiting(kube, { namespace, name: 'asks', state: 'ask' });
    const [client] = world.clients;
    if (client === undefined) throw new Error('there is no client');
    const stream = await client.open(`/v1/workflows/executions/${metadata.uid}/stream`, { token: ada });
    expect(stream.status).toBe(200);
    const ended = (async () => {
      for await (const _ of stream.events);
      return 'whole';
    })();
    // A request whose body is on its way when the stop begins.
    const { hostname, port } = new URL(replica().url);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ workflow: 'gate' });
    let received = '';
    socket.on('data', (chunk) => {
      received += String(chunk);
    });
    const head = [
      'POST /v1/workflows/executions HTTP/1.1',
      'Host: test',
      `Authorization: Bearer ${ada}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const stopped = replica().stop();
    await expect.poll(async () => (await internal('/ready').catch(() => undefined))?.status).toBe(503);
    expect((await world.http('/health')).status).toBe(200);
    expect(await ended).toBe('whole');
    socket.write(body.slice(5));
    await expect.poll(() => received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*execution_id/);
    expect(await stopped).toBe(0);
    await replica().start();
    expect((await world.http('/health')).status).toBe(200);
  });
});
