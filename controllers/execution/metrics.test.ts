import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { countOutcomes, createExecutionMetrics, type ExecutionMetrics } from './metrics.ts';

let registry: Registry;
let metrics: ExecutionMetrics;

beforeEach(() => {
  registry = new Registry();
  metrics = createExecutionMetrics(registry, () => ({ running: 2, completed: 5 }));
});

describe('metrics of executions', () => {
  it('count executions by phase and outcome, and states', async () => {
    metrics.stateEnded('ContainerRun', 'success', 1.5);
    metrics.finished('acme', 'failed');
    const text = await registry.metrics();
    for (const line of [
      'windlass_executions{phase="running"} 2',
      'windlass_executions_finished_total{tenant="acme",outcome="failed"} 1',
      'windlass_state_seconds_count{kind="ContainerRun",status="success"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  it('count an end by its phase, and by its reason where that says more', async () => {
    const ends: (string | undefined)[] = [];
    const count = countOutcomes({ metrics, onEnd: (reason) => void ends.push(reason), tenantOf: () => 'acme' });
    count(anExecution().build(), { phase: 'failed', reason: 'InternalError' });
    count(anExecution().build(), { phase: 'completed', reason: 'LastStateFailed' });
    expect(ends).toEqual(['InternalError', 'LastStateFailed']);
    const text = await registry.metrics();
    expect(text).toContain('windlass_executions_finished_total{tenant="acme",outcome="failed"} 1\n');
    expect(text).toContain('windlass_executions_finished_total{tenant="acme",outcome="last_state_failed"} 1\n');
  });

  it('give labels to 500 tenants and count the others together', async () => {
    for (let index = 0; index < 502; index++) metrics.finished(`t${index}`, 'completed');
    metrics.finished('t0', 'completed');
    const text = await registry.metrics();
    expect(text).toContain('windlass_executions_finished_total{tenant="t0",outcome="completed"} 2');
    expect(text).toContain('windlass_executions_finished_total{tenant="t499",outcome="completed"} 1');
    expect(text).toContain('windlass_executions_finished_total{tenant="other",outcome="completed"} 2');
    expect(text).not.toContain('tenant="t500"');
  });
});
