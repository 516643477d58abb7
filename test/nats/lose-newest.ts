import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsServer } from './nats-server.ts';

/** Leaves the stream as it is after its store was lost or put back: with its first messages alone. */
export async function loseNewest(server: Pick<NatsServer, 'url'>, name: string, kept: number): Promise<void> {
  const connection = await connect({ servers: server.url });
  const { streams } = await jetstreamManager(connection);
  const { config } = await streams.info(name);
  const first = await Promise.all(
    Array.from({ length: kept }, (_, index) => streams.getMessage(name, { seq: index + 1 })),
  );
  await streams.delete(name);
  await streams.add(config);
  for (const message of first) {
    if (message !== null) connection.publish(message.subject, message.data);
  }
  await connection.flush();
  await connection.close();
}
