import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { checkPage, type HealthServer, metricsPage, startHealthServer } from '../../lib/process/health-server.ts';
import { askedGauge } from './asked-gauge.ts';
import { createMetrics, type Metrics } from './metrics.ts';

let server: HealthServer;
let metrics: Metrics;
let problem: string | undefined;

beforeEach(async () => {
  problem = undefined;
  metrics = createMetrics();
  server = await startHealthServer({
    port: 0,
    host: '127.0.0.1',
    pages: {
      '/healthz': checkPage({}),
      '/readyz': checkPage({ caches: () => problem, other: () => undefined }),
      '/metrics': metricsPage(() => metrics.render()),
    },
  });
});
afterEach(() => server.close());

const get = async (path: string, method = 'GET') => {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
};

describe('health', () => {
  it('a failed check is named under 503 and touches no other path', async () => {
    expect(await get('/readyz')).toMatchObject({ status: 200, text: 'ok\n' });
    problem = 'not synced';
    expect(await get('/readyz?verbose')).toMatchObject({ status: 503, text: 'caches: not synced\n' });
    expect(await get('/healthz')).toMatchObject({ status: 200 });
  });

  it('answers nothing else', async () => {
    expect(await get('/')).toMatchObject({ status: 404 });
    expect(await get('/healthz', 'POST')).toMatchObject({ status: 405 });
  });

  it('a port that is taken is an error at the start', async () => {
    const second = startHealthServer({ port: server.port, host: '127.0.0.1', pages: {} });
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('metrics', () => {
  it('count reconciles, requests, queues and watches', async () => {
    const controller = metrics.forController('WorkflowExecution');
    controller.reconciled('done', 12);
    controller.overdue(2);
    controller.queue?.depth(3);
    controller.queue?.waited(4);
    metrics.queueAge('WorkflowExecution', () => 1_500);
    metrics.queueAge('Volume', () => 0);
    metrics.forReflector('Pod').failed('Expired');
    metrics.forReflector('Pod').sinkFailed();
    metrics.apiRequest({ verb: 'create', resource: 'pods', code: '201', ms: 5 });
    metrics.apiRequest({ verb: 'watch', resource: 'pods', code: '200', ms: 5 });
    metrics.leader(true);
    metrics.eventDropped();
    metrics.ended('AgentExecution', 'InternalError');
    metrics.ended('AgentExecution', 'Timeout');
    const { text, type } = await get('/metrics');
    expect(type).toContain('text/plain');
    for (const line of [
      'windlass_reconcile_seconds_count{kind="WorkflowExecution",outcome="done"} 1',
      'windlass_reconciles_overdue{kind="WorkflowExecution"} 2',
      'workqueue_depth{kind="WorkflowExecution"} 3',
      'windlass_queue_oldest_seconds{kind="WorkflowExecution"} 1.5',
      'windlass_queue_oldest_seconds{kind="Volume"} 0',
      'workqueue_queue_duration_seconds_count{kind="WorkflowExecution"} 1',
      'windlass_watch_failures_total{kind="Pod",reason="Expired"} 1',
      'windlass_watch_handler_failures_total{kind="Pod"} 1',
      'rest_client_requests_total{verb="create",resource="pods",code="201"} 1',
      'rest_client_requests_total{verb="watch",resource="pods",code="200"} 1',
      `windlass_build_info{version="${manifest.version}"} 1`,
      'rest_client_request_duration_seconds_count{verb="create"} 1',
      'windlass_leader 1',
      'windlass_events_dropped_total 1',
      'windlass_internal_ends_total{kind="AgentExecution"} 1',
      'windlass_internal_ends_total{kind="WorkflowExecution"} 0',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).toContain('process_resident_memory_bytes');
  });

  it('a scrape that fails is answered by 500, and the process lives on', async () => {
    askedGauge(metrics.registry, { name: 'x', help: 'x', label: 'phase' }, () => {
      throw new Error('boom');
    });
    expect(await get('/metrics')).toMatchObject({ status: 500 });
    expect(await get('/healthz')).toMatchObject({ status: 200 });
  });
});
