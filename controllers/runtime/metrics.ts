import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ExecutionReason } from '../../crds/conditions.ts';
import { type BusObserver, createBusMetrics } from '../../lib/bus/index.ts';
import type { ReflectorObserver } from '../../lib/informer/reflector.ts';
import type { RequestReport } from '../../lib/kube/index.ts';
import { createKubeRequests, registerBuildInfo } from '../../lib/process/shared-metrics.ts';
import { askedGauge } from './asked-gauge.ts';
import type { ReconcileObserver } from './controller.ts';

const executionKinds = ['WorkflowExecution', 'AgentExecution'] as const;
type ExecutionKind = (typeof executionKinds)[number];

const ownDefect: ExecutionReason = 'InternalError';

/** Everything that one process counts of any kind. Label values come from closed sets: kinds, verbs, codes, outcomes. */
export interface Metrics {
  /** Where a module registers what it counts of its own kind. */
  readonly registry: Registry;
  /** The exposition format, and its content type. */
  render(): Promise<{ readonly text: string; readonly contentType: string }>;
  forController(kind: string): ReconcileObserver;
  /** Asked at each scrape for the age of the oldest key that waits, in milliseconds. */
  queueAge(kind: string, oldestMs: () => number): void;
  forReflector(kind: string): ReflectorObserver;
  apiRequest(report: RequestReport): void;
  leader(leading: boolean): void;
  eventDropped(): void;
  /** An execution has ended for a reason; those of which Windlass itself is the cause are counted. */
  ended(kind: ExecutionKind, reason: string | undefined): void;
  readonly bus: BusObserver;
}

/** Upper bounds of the histograms' buckets, in seconds: from a reconcile in memory to the timeout of a request. */
const reconcileBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Own registry: two of them in one process do not meet. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  registerBuildInfo(registry);
  collectDefaultMetrics({ register: registry });
  const meters = createMeters(registry);
  return {
    registry,
    async render() {
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
    forController: (kind) => controllerObserver(meters, kind),
    forReflector: (kind) => ({
      failed: (reason) => meters.watchFailures.inc({ kind, reason }),
      sinkFailed: () => meters.handlerFailures.inc({ kind }),
    }),
    apiRequest({ verb, resource, code, ms }) {
      meters.requests.inc({ verb, resource, code });
      if (verb !== 'watch') meters.requestSeconds.observe({ verb }, ms / 1000);
    },
    queueAge: queueAges(registry),
    leader: (leading) => meters.leader.set(leading ? 1 : 0),
    eventDropped: () => meters.eventsDropped.inc(),
    ended: (kind, reason) => void (reason === ownDefect && meters.internalEnds.inc({ kind })),
    bus: createBusMetrics(registry),
  };
}

type Meters = ReturnType<typeof createMeters>;

function createMeters(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `windlass_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `windlass_${name}`, help, labelNames, registers });
  const histogram = (
    name: string,
    help: string,
    { labelNames, buckets }: { labelNames: string[]; buckets: number[] },
  ) => new Histogram({ name: `windlass_${name}`, help, labelNames, buckets, registers });
  return {
    ...queueMeters(registers),
    reconcileSeconds: histogram('reconcile_seconds', 'Time of one reconcile, by how it ended.', {
      labelNames: ['kind', 'outcome'],
      buckets: reconcileBuckets,
    }),
    reconcilesOverdue: gauge('reconciles_overdue', 'Reconciles that began five minutes ago or earlier and run on.', [
      'kind',
    ]),
    requests: createKubeRequests(registry),
    // Named as by every client of Kubernetes: beside an HTTP API of our own, `api` would say the wrong thing.
    requestSeconds: new Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Time of requests to the Kubernetes API, watches left out.',
      labelNames: ['verb'],
      buckets: reconcileBuckets,
      registers,
    }),
    watchFailures: counter('watch_failures_total', 'Lists and watches that ended in an error.', ['kind', 'reason']),
    handlerFailures: counter('watch_handler_failures_total', 'Watched objects that a handler failed on.', ['kind']),
    leader: gauge('leader', '1 while this process holds the lease.'),
    eventsDropped: counter('events_dropped_total', 'Kubernetes Events that were not written.'),
    internalEnds: fromZero(
      counter('internal_ends_total', 'Executions that an error of Windlass itself ended.', ['kind']),
    ),
  };
}

/** Prometheus sees an increase only of a series that was there before. */
function fromZero(ends: Counter): Counter {
  for (const kind of executionKinds) ends.inc({ kind }, 0);
  return ends;
}

/** Named as in client-go, where they mean the same (ADR 0122). */
const queueMeters = (registers: Registry[]) => ({
  queueDepth: new Gauge({
    name: 'workqueue_depth',
    help: 'Keys that are ready and wait for a worker.',
    labelNames: ['kind'],
    registers,
  }),
  queueSeconds: new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'From a key being ready to a worker taking it.',
    labelNames: ['kind'],
    buckets: reconcileBuckets,
    registers,
  }),
});

function controllerObserver(meters: Meters, kind: string): ReconcileObserver {
  return {
    reconciled: (outcome, ms) => meters.reconcileSeconds.observe({ kind, outcome }, ms / 1000),
    overdue: (count) => meters.reconcilesOverdue.set({ kind }, count),
    queue: {
      depth: (depth) => meters.queueDepth.set({ kind }, depth),
      waited: (ms) => meters.queueSeconds.observe({ kind }, ms / 1000),
    },
  };
}

/** By kind, since one gauge serves all controllers. */
function queueAges(registry: Registry): Metrics['queueAge'] {
  const ages = new Map<string, () => number>();
  const gauge = { name: 'queue_oldest_seconds', help: 'Age of the oldest key that waits.', label: 'kind' };
  askedGauge(registry, gauge, () => Object.fromEntries([...ages].map(([kind, oldestMs]) => [kind, oldestMs() / 1000])));
  return (kind, oldestMs) => void ages.set(kind, oldestMs);
}
