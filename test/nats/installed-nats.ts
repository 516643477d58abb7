import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { defineResource, type KubeClient, type KubeObject, pods } from '../../lib/kube/index.ts';

interface Secret extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

const secrets = defineResource<Secret>({
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
});

const namespace = 'windlass-system';

/** How a NATS server is entered. */
interface NatsAddress {
  readonly url: string;
  readonly user?: string;
  readonly password?: string;
}

/** The first NATS server of the chart, whose pod this machine reaches: `make up` runs the nodes on it. */
export type InstalledNats = Required<NatsAddress>;

/** Where the chart's server is just now, and how it is entered. */
export async function installedNats(kube: KubeClient): Promise<InstalledNats> {
  const { status } = await kube.get(pods, { namespace, name: 'windlass-nats-0' });
  const { data } = await kube.get(secrets, { namespace, name: 'windlass-nats-auth' });
  const password = Buffer.from(data.password ?? '', 'base64').toString();
  return { url: `nats://${status?.podIP}:4222`, user: 'windlass', password };
}

const enter = ({ url, user, password }: NatsAddress): Promise<NatsConnection> =>
  connect({ servers: url, timeout: 5_000, ...(user === undefined ? {} : { user, pass: password }) });

/** The events of one subject that a stream holds, oldest first. */
export async function eventsOf(nats: NatsAddress, stream: string, subject: string): Promise<Record<string, unknown>[]> {
  const connection = await enter(nats);
  try {
    const consumer = await jetstream(connection).consumers.get(stream, { filter_subjects: subject });
    const events: Record<string, unknown>[] = [];
    let { num_pending: left } = await consumer.info();
    while (left > 0) {
      for await (const message of await consumer.fetch({ max_messages: Math.min(left, 500), expires: 5_000 })) {
        events.push(message.json());
        left -= 1;
      }
    }
    return events;
  } finally {
    await connection.close();
  }
}
