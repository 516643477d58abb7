import { Counter, Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestCaller, type TestServer } from '../../../test/support/http-server.ts';
import { createHealthRoutes, createInternalRoutes } from './index.ts';

let server: TestServer | undefined;
afterEach(() => server?.close());

const internal = (ready: Readonly<Record<string, () => string | undefined>> = {}, registry = new Registry()) =>
  startTestServer(createInternalRoutes<TestCaller>({ ready, registry }));

describe('the service itself', () => {
  it('GEN-09 ORCH-AUTH-04 answers /health with exactly {"status":"ok"}, without a token', async () => {
    server = await startTestServer(createHealthRoutes<TestCaller>());
    const response = await fetch(`${server.url}/health`);
    expect([response.status, await response.text()]).toEqual([200, '{"status":"ok"}']);
  });

  it.each(['?probe=1', '?a=1&a=2', '?x', '?a%5B%5D=1'])(
    'AMB-177 answers a probe with a query of its own: %s',
    async (query) => {
      server = await startTestServer(createHealthRoutes<TestCaller>());
      expect((await fetch(`${server.url}/health${query}`)).status).toBe(200);
      await server.close();
      server = await internal();
      const answers = await Promise.all(['/ready', '/metrics'].map((path) => fetch(`${server?.url}${path}${query}`)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    },
  );

  it('keeps readiness and metrics from the public listener', async () => {
    server = await startTestServer(createHealthRoutes<TestCaller>());
    for (const path of ['/ready', '/metrics']) expect((await fetch(server.url + path)).status).toBe(404);
  });

  it('is ready when all checks pass', async () => {
    server = await internal({ caches: () => undefined });
    const response = await fetch(`${server.url}/ready`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ready' }]);
  });

  it('names every check that fails', async () => {
    server = await internal({ caches: () => 'not filled yet', bus: () => undefined, serving: () => 'closed' });
    const response = await fetch(`${server.url}/ready`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      error: 'unavailable',
      code: 'unavailable',
      message: 'not ready',
      details: [
        { path: 'caches', message: 'not filled yet' },
        { path: 'serving', message: 'closed' },
      ],
    });
  });

  it('shows what it has counted', async () => {
    const registry = new Registry();
    new Counter({ name: 'things_total', help: 'Things.', registers: [registry] }).inc(3);
    server = await internal({}, registry);
    const response = await fetch(`${server.url}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(await response.text()).toContain('things_total 3');
  });
});
