import type { Consumer, ConsumerConfig, JetStreamClient, JetStreamManager, JsMsg } from '@nats-io/jetstream';
import { messageOf } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { codeOf } from '../bus-error.ts';

/** Durable consumers, and passing looks at streams, over one connection. The streams are there. */
export interface ConnectionConsumers {
  /** A durable consumer, which is made, or brought up to date, if need be. */
  open(stream: string, config: DurableConfig): Promise<Consumer>;
  /** The last message of each subject of a filter, then those that come. Ends with the signal or the connection. */
  follow(stream: string, filter: string, signal: AbortSignal): Promise<FollowedStream>;
}

type DurableConfig = Pick<ConsumerConfig, 'ack_policy' | 'ack_wait' | 'max_ack_pending' | 'deliver_policy'> & {
  readonly durable_name: string;
  readonly filter_subject: string;
};

interface FollowedStream {
  /** Messages that were there when it began. */
  readonly pending: number;
  readonly messages: AsyncIterable<JsMsg>;
}

interface ConnectionConsumersDeps {
  readonly client: JetStreamClient;
  readonly manager: Pick<JetStreamManager, 'consumers'>;
  readonly logger: Logger;
}

export function createConnectionConsumers({ client, manager, logger }: ConnectionConsumersDeps): ConnectionConsumers {
  return {
    async open(stream, config) {
      try {
        await manager.consumers.add(stream, { ...config, max_deliver: unlimited });
      } catch (error) {
        // The account may only use what an administrator made, or a field cannot change any more: used as it is.
        const isThere = await manager.consumers.info(stream, config.durable_name).catch(() => undefined);
        if (isThere === undefined) throw error;
        const fields = { stream, consumer: config.durable_name, code: codeOf(error), problem: messageOf(error) };
        logger.warn(fields, 'consumer not updated');
      }
      return client.consumers.get(stream, config.durable_name);
    },
    async follow(stream, filter, signal) {
      const consumer = await client.consumers.get(stream, {
        filter_subjects: filter,
        deliver_policy: 'last_per_subject',
      });
      const messages = await consumer.consume({ expires: followMs });
      const end = (): void => messages.stop();
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
      void messages.closed().then(() => signal.removeEventListener('abort', end));
      return { pending: (await consumer.info(true)).num_pending, messages };
    },
  };
}

/** We judge when a message was delivered too often: a server that did would tell only processes that listen just then. */
const unlimited = -1;

/** How long one request for messages stays with the server; half of it notices a consumer that is gone. */
const followMs = 10_000;
