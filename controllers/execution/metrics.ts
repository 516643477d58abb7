import { Counter, Histogram, type Registry } from 'prom-client';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { askedGauge } from '../runtime/asked-gauge.ts';

/** Metrics of executions. Label values come from closed sets: phases, kinds of states, outcomes. */
export interface ExecutionMetrics {
  /** How long a state took from its entry to its end. */
  stateEnded(kind: string, status: string, seconds: number): void;
  /** That an execution has come to its end; `outcome` is its phase, or why a completed one did not succeed. */
  finished(tenant: string, outcome: string): void;
}

/** Upper bounds in seconds, from a state without a process to one that waits a day for a person. */
const stateBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400];

/** Tenants with a label of their own in a counter; those that come later are counted together as `other`. */
const tenantsMax = 500;

/** `byPhase` is asked at each scrape for the number of executions in each phase. */
export function createExecutionMetrics(
  registry: Registry,
  byPhase: () => Readonly<Record<string, number>>,
): ExecutionMetrics {
  const registers = [registry];
  askedGauge(registry, { name: 'executions', help: 'Executions by phase.', label: 'phase' }, byPhase);
  const stateSeconds = new Histogram({
    name: 'windlass_state_seconds',
    help: 'From a state being entered to its end.',
    labelNames: ['kind', 'status'],
    buckets: stateBuckets,
    registers,
  });
  return {
    stateEnded: (kind, status, seconds) => stateSeconds.observe({ kind, status }, seconds),
    finished: finishedCounter(registry),
  };
}

interface OutcomeDeps {
  readonly metrics: Pick<ExecutionMetrics, 'finished'>;
  readonly onEnd: (reason: string | undefined) => void;
  readonly tenantOf: (namespace: string) => string;
}

/** One that completed without success is counted apart: its phase alone would hide it. */
export const countOutcomes =
  ({ metrics, onEnd, tenantOf }: OutcomeDeps) =>
  (
    { metadata }: Pick<WorkflowExecution, 'metadata'>,
    { phase, reason }: Pick<WorkflowExecutionStatus, 'phase' | 'reason'>,
  ): void => {
    onEnd(reason);
    metrics.finished(tenantOf(metadata.namespace ?? ''), reason === 'LastStateFailed' ? 'last_state_failed' : phase);
  };

function finishedCounter(registry: Registry): ExecutionMetrics['finished'] {
  const finished = new Counter({
    name: 'windlass_executions_finished_total',
    help: 'Executions that came to their end.',
    labelNames: ['tenant', 'outcome'],
    registers: [registry],
  });
  const known = new Set<string>();
  return (tenant, outcome) => {
    if (known.size < tenantsMax) known.add(tenant);
    finished.inc({ tenant: known.has(tenant) ? tenant : 'other', outcome });
  };
}
