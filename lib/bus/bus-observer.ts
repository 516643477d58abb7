import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What a call to the bus was for. */
export type BusOperation =
  | 'publish'
  | 'get'
  | 'create'
  | 'update'
  | 'delete'
  | 'put_object'
  | 'get_object'
  | 'list_objects'
  | 'trim_objects';
/** `conflict`: another caller was first. `refused`: it can never succeed. `unavailable`: it may, later. */
export type BusOutcome = 'ok' | 'conflict' | 'refused' | 'unavailable';
/** Why an event that was raised is lost: no room, refused by the bus, or the process had to end. */
type DropReason = 'full' | 'refused' | 'stopped';

/** Told what happens at the bus. */
export interface BusObserver {
  connected(connected: boolean): void;
  called(operation: BusOperation, outcome: BusOutcome, ms: number): void;
  /** What waits to be stored. */
  waiting(events: number, bytes: number): void;
  dropped(reason: DropReason, events: number): void;
}

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
