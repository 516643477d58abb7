import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { watchPools } from '../../lib/process/pool-gauges.ts';
import { createServerMetrics } from '../../lib/process/server-metrics.ts';
import { createExecutionMetrics } from '../../controllers/execution/metrics.ts';
import { createMetrics } from '../../controllers/runtime/metrics.ts';
import { createUnarchivedCounter } from '../../controllers/runtime/shared-archive.ts';
import { createAuditMetrics } from '../../lib/audit-chain/index.ts';
import { createBusMetrics } from '../../lib/bus/index.ts';
import { createModelMetrics } from '../../lib/models/metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}
interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
const { groups } = parse(read('charts/windlass/files/alerts.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read('charts/windlass/files/dashboard.json')) as { panels: Panel[] };

/** Everything that the processes count, as Prometheus reads it. */
let known = new Set<string>();

beforeAll(async () => {
  const api = createServerMetrics();
  createBusMetrics(api.registry);
  createAuditMetrics(api.registry);
  createModelMetrics(api.registry);
  const controllers = createMetrics();
  createExecutionMetrics(controllers.registry, () => ({}));
  createUnarchivedCounter(controllers.registry);
  watchPools(controllers.registry, { bytes: {} });
  const texts = [(await controllers.render()).text, await api.registry.metrics()];
  const types = texts.flatMap((text) => [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]);
  known = new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name],
    ),
  );
});

const metricsOf = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:windlass|workqueue|rest_client|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name);

describe('what the chart watches is what the processes count', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s', (_name, { expr, labels, annotations }) => {
    const used = metricsOf(expr);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/\.$/);
  });

  it('a provider that failed at nothing raises no alert: ends that are none of its doing count on no side', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'WindlassModelsFail') ?? {};
    const [failed = '', asked = '', ...more] = [...expr.matchAll(/outcome!~"([^"]*)"/g)].map(([, names]) => names);
    expect(more).toEqual([]);
    expect(failed.split('|').toSorted()).toEqual(['aborted', 'internal', 'ok']);
    expect(asked.split('|').toSorted()).toEqual(['aborted', 'internal']);
  });

  it('an end by a defect of ours raises an alert at its first occurrence', async () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'WindlassOwnDefect') ?? {};
    expect(expr).toContain('windlass_internal_ends_total');
    const model = rules.find(({ alert }) => alert === 'WindlassModelExceptions')?.expr ?? '';
    expect(model).toContain('windlass_model_requests_total{outcome="internal"}');
    // Prometheus sees an increase only of a series that was there before.
    const registry = new Registry();
    createModelMetrics(registry).counts('p', () => 0);
    const text = `${(await createMetrics().render()).text}${await registry.metrics()}`;
    expect(text).toContain('windlass_internal_ends_total{kind="WorkflowExecution"} 0\n');
    expect(text).toContain('windlass_internal_ends_total{kind="AgentExecution"} 0\n');
    expect(text).toContain('windlass_model_requests_total{provider="p",outcome="internal"} 0\n');
  });

  it('the table of docs/operating.md has every alert, and no other', () => {
    const named = [...read('docs/operating.md').matchAll(/^\| `(Windlass\w+)` \|/gm)].map(([, name = '']) => name);
    expect(named).toEqual(rules.map(({ alert }) => alert));
  });

  it.each(panels.map((panel) => [panel.title, panel] as const))('the panel %s', (_title, { targets }) => {
    const used = targets.flatMap(({ expr }) => metricsOf(expr));
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });

  it('every metric that the page on operating names is counted', () => {
    const named = [...read('docs/operating.md').matchAll(/`((?:windlass|workqueue|rest_client)_[a-z0-9_]+)`/g)].map(
      ([, name = '']) => name,
    );
    const lacking = named.filter((name) => ![name, `${name}_count`].some((each) => known.has(each)));
    expect(lacking.filter((name) => !elsewhere.has(name))).toEqual([]);
  });
});

/** Counted by one transport or one process alone, where it runs. */
const elsewhere = new Set(['windlass_grpc_calls_total', 'windlass_grpc_call_seconds', 'windlass_relay_hosts']);
