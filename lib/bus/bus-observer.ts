import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Purpose of a call to the bus. */
export type BusOperation =
  | 'publish'
  | 'get'
  | 'create'
  | 'update'
  | 'delete'
  | 'put_object'
  | 'get_object'
  | 'list_objects'
  | 'trim_objects'
  | 'note'
  | 'append'
  | 'read'
  | 'request'
  | 'request_all'
  | 'tell';
/** `conflict`: another caller was first. `refused`: it can never succeed. `unavailable`: it may, later. */
export type BusOutcome = 'ok' | 'conflict' | 'refused' | 'unavailable';
/** Why an event that was raised is lost: no room, refused by the bus, or the process had to end. */
type DropReason = 'full' | 'refused' | 'stopped';

/**
 * Outcome of a delivered message. `done`: handled. `again`: failed, and comes again. `dead`: failed for good, or too
 * often. `returned`: not begun, or broken off, because the process stops.
 */
type DeliveryOutcome = 'done' | 'again' | 'dead' | 'returned';

/** Receives events of the bus. */
export interface BusObserver {
  connected(connected: boolean): void;
  called(operation: BusOperation, outcome: BusOutcome, ms: number): void;
  /** Events that wait to be stored. */
  waiting(events: number, bytes: number): void;
  dropped(reason: DropReason, events: number): void;
  /** A message of a durable consumer; `ms` is the time of its handling, the wait for its turn included. */
  delivered(consumer: string, outcome: DeliveryOutcome, ms: number): void;
  /** A request of another process, by the service that it was for. */
  answered(service: string, outcome: 'ok' | 'failed' | 'overloaded', ms: number): void;
}

/** Metrics of deliveries and answers, which wait for work of any kind. */
const workSeconds = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

const callSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** Counts everything in a process's own registry. */
export function createBusMetrics(registry: Registry): BusObserver {
  const registers = [registry];
  const connected = new Gauge({ name: 'windlass_bus_connected', help: '1 while the event bus works.', registers });
  const calls = new Counter({
    name: 'windlass_bus_calls_total',
    help: 'Calls to the event bus.',
    labelNames: ['operation', 'outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'windlass_bus_call_seconds',
    help: 'How long calls to the event bus took.',
    labelNames: ['operation'],
    buckets: callSeconds,
    registers,
  });
  const events = new Gauge({ name: 'windlass_bus_outbox_events', help: 'Events that wait to be stored.', registers });
  const bytes = new Gauge({ name: 'windlass_bus_outbox_bytes', help: 'Size of the events that wait.', registers });
  const dropped = new Counter({
    name: 'windlass_bus_outbox_dropped_total',
    help: 'Events that were raised and will never be stored.',
    labelNames: ['reason'],
    registers,
  });
  return {
    ...createWorkMetrics(registry),
    connected: (is) => connected.set(is ? 1 : 0),
    called(operation, outcome, ms) {
      calls.inc({ operation, outcome });
      seconds.observe({ operation }, ms / 1_000);
    },
    waiting(count, size) {
      events.set(count);
      bytes.set(size);
    },
    dropped: (reason, count) => dropped.inc({ reason }, count),
  };
}

/** Services that this process offers others. */
function createWorkMetrics(registry: Registry): Pick<BusObserver, 'delivered' | 'answered'> {
  const registers = [registry];
  const deliveries = new Histogram({
    name: 'windlass_bus_delivery_seconds',
    help: 'Messages of durable consumers and how long their handling took; dead letters have the outcome dead.',
    labelNames: ['consumer', 'outcome'],
    buckets: workSeconds,
    registers,
  });
  const answers = new Histogram({
    name: 'windlass_bus_answer_seconds',
    help: 'Requests of other processes and how long their answers took.',
    labelNames: ['service', 'outcome'],
    buckets: workSeconds,
    registers,
  });
  return {
    delivered: (consumer, outcome, ms) => deliveries.observe({ consumer, outcome }, ms / 1_000),
    answered: (service, outcome, ms) => answers.observe({ service, outcome }, ms / 1_000),
  };
}
