import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { HttpMetrics } from '../http/index.ts';
import type { ReflectorObserver } from '../informer/index.ts';
import type { RequestReport } from '../kube/index.ts';
import { createKubeRequests, registerBuildInfo } from './shared-metrics.ts';

/** Everything that a process with an HTTP listener counts. Label values come from closed sets: operations, methods, statuses, kinds, verbs. */
export interface ServerMetrics extends HttpMetrics {
  /** For what only one area counts. */
  readonly registry: Registry;
  forReflector(kind: string): ReflectorObserver;
  kubeRequest(report: RequestReport): void;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Methods that have a label of their own; whatever else a client makes up is counted as one. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Default metrics that look at every open connection: with ten thousand of them a page would take a tenth of a second. */
const costly = ['active_handles', 'active_requests', 'active_resources'].flatMap((name) => [
  `nodejs_${name}`,
  `nodejs_${name}_total`,
]);

/** Own registry: two of them in one process do not meet. */
export function createServerMetrics(): ServerMetrics {
  const registry = new Registry();
  registerBuildInfo(registry);
  collectDefaultMetrics({ register: registry });
  for (const name of costly) registry.removeSingleMetric(name);
  const meters = createMeters(registry);
  const requestsOf = remembered((labels: RequestLabels) => meters.requests.labels(labels));
  const secondsOf = remembered((labels: Readonly<Record<'operation', string>>) => meters.requestSeconds.labels(labels));
  return {
    registry,
    requestDone({ operation, method: sent, status, seconds }) {
      const method = methods.has(sent) ? sent : 'other';
      requestsOf(`${operation} ${method} ${status}`, { operation, method, status }).inc();
      secondsOf(operation, { operation }).observe(seconds);
    },
    streamOpened(operation) {
      meters.streams.inc({ operation });
      return () => meters.streams.dec({ operation });
    },
    streamCutOff: (operation) => meters.streamsCutOff.inc({ operation }),
    forReflector: (kind) => ({
      failed: (reason) => meters.watchFailures.inc({ kind, reason }),
      sinkFailed: () => meters.handlerFailures.inc({ kind }),
    }),
    kubeRequest: ({ verb, resource, code }) => meters.kubeRequests.inc({ verb, resource, code }),
  };
}

type RequestLabels = Readonly<Record<'operation' | 'method', string>> & Readonly<Record<'status', number>>;

/** Finding a metric by its labels costs more than counting, and there are only so many of them. */
function remembered<Labels extends object, Found>(find: (labels: Labels) => Found) {
  const known = new Map<string, Found>();
  return (key: string, labels: Labels): Found => {
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = find(labels)));
    return found;
  };
}

function createMeters(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `windlass_${name}`, help, labelNames, registers });
  return {
    requests: counter('http_requests_total', 'HTTP requests that were answered, or whose client left.', [
      'operation',
      'method',
      'status',
    ]),
    requestSeconds: new Histogram({
      name: 'windlass_http_request_seconds',
      help: 'From the head of a request until its answer is handed over to be sent, or until its stream has ended.',
      labelNames: ['operation'],
      buckets: secondsBuckets,
      registers,
    }),
    streams: new Gauge({
      name: 'windlass_http_streams',
      help: 'Clients that are being sent events.',
      labelNames: ['operation'],
      registers,
    }),
    streamsCutOff: counter(
      'http_streams_cut_off_total',
      'Clients that were cut off because no room was left for the events they had not read.',
      ['operation'],
    ),
    watchFailures: counter('watch_failures_total', 'Lists and watches that ended in an error.', ['kind', 'reason']),
    handlerFailures: counter('watch_handler_failures_total', 'Watched objects that a handler failed on.', ['kind']),
    kubeRequests: createKubeRequests(registry),
  };
}
