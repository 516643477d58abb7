import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { bytesOf } from '../../memory-budget/index.ts';
import type { BusObserver } from '../bus-observer.ts';
import type { EventPublisher, EventSink } from '../event-bus.ts';
import { streamNames, streamOf } from '../subjects.ts';
import { type Held, StreamQueue } from './stream-queue.ts';

interface OutboxDeps {
  readonly publisher: EventPublisher;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<BusObserver, 'waiting' | 'dropped'>;
}

/**
 * Largest queue of one stream; one tenant may fill four fifths of it (`mayHold`); whichever bound is reached first counts.
 */
export type OutboxLimits = Readonly<Held>;

const streams = Object.values(streamNames);
const outboxLimits: OutboxLimits = { events: 10_000, bytes: Math.floor(bytesOf('event outbox') / streams.length) };

/**
 * Keeps events in memory until they are stored, those of each stream in the order in which they were raised. One whose
 * answer got lost is sent again and may then be behind younger ones. A stream that takes nothing, as one without room or
 * without a leader, holds up no event of the other one.
 */
export interface Outbox extends EventSink {
  /** Takes nothing more; resolves when all is stored, after `graceMs` at the latest. The rest is dropped then. */
  close(graceMs: number): Promise<void>;
}

export function createOutbox(deps: OutboxDeps, limits: OutboxLimits = outboxLimits): Outbox {
  const queues = new Map<string, StreamQueue>();
  const onChange = (): void => {
    const sum = { events: 0, bytes: 0 };
    for (const { held } of queues.values()) {
      sum.events += held.events;
      sum.bytes += held.bytes;
    }
    deps.observer.waiting(sum.events, sum.bytes);
  };
  for (const stream of streams) queues.set(stream, new StreamQueue({ ...deps, stream, onChange }, limits));
  return {
    raise: (event) => queues.get(streamOf(event))?.raise(event),
    async close(graceMs) {
      await Promise.all([...queues.values()].map((queue) => queue.close(graceMs)));
    },
  };
}
