import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsServer } from './nats-server.ts';

/** A CloudEvent in its form in the stream. */
export interface StoredEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The domain events of one tenant and topic in the order in which they are stored, read by a client of its own. */
export async function storedEvents({ url }: NatsServer, tenant: string, topic: string): Promise<StoredEvent[]> {
  const connection = await connect({ servers: url });
  try {
    const manager = await jetstreamManager(connection);
    const { state } = await manager.streams.info('WINDLASS_EVENTS');
    const events: StoredEvent[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq += 1) {
      const message = await manager.streams.getMessage('WINDLASS_EVENTS', { seq });
      if (message?.subject === `windlass.events.${tenant}.${topic}`) events.push(message.json<StoredEvent>());
    }
    return events;
  } finally {
    await connection.close();
  }
}
