import { readFileSync } from 'node:fs';
import type { KV } from '@nats-io/kv';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../logger.ts';
import type { BusOptions } from './bus-config.ts';
import type { BucketDefinition } from './event-bus.ts';
import { prepareStream } from './prepare-stream.ts';
import { bucketName, bucketStream, eventStreams } from './streams.ts';

/** What the adapter uses of the library's buckets. */
export type SessionBucket = Pick<KV, 'get' | 'create' | 'update' | 'delete'>;

/** A message for a stream. */
export interface Message {
  readonly subject: string;
  /** Which stream has to store it. */
  readonly stream: string;
  /** The stream stores one message of an id within its window. */
  readonly id: string;
  readonly mediaType: string;
  readonly body: string;
}

/** One connection to the server, with all streams in place. Once it ends, another one is opened in its stead. */
export interface Session {
  /** Resolves once the stream has it. */
  publish(message: Message): Promise<void>;
  /** Opens a bucket, which is made if need be. */
  bucket(definition: BucketDefinition): Promise<SessionBucket>;
  /** Which of the servers it is. */
  readonly server: string;
  /** Resolves when the connection is gone. Calls that were under way have failed then. */
  readonly ended: Promise<void>;
  /** Ends the connection. */
  close(): Promise<void>;
}

export interface SessionOptions extends BusOptions {
  /** Shown in the server's list of connections. */
  readonly name: string;
}

/** Longest time of one call, and of one attempt to connect. */
export const callTimeoutMs = 1_500;
/** A peer that was cut off without a word is noticed after two of these without an answer. */
const PING_MS = 3_000;

/** Connects and puts the streams in place. The library is loaded by the first call: a process without a bus never does. */
export async function openSession(options: SessionOptions, logger: Logger): Promise<Session> {
  const [{ connect, credsAuthenticator, headers }, { jetstream, jetstreamManager }, { Kvm }] = await Promise.all([
    import('@nats-io/transport-node'),
    import('@nats-io/jetstream'),
    import('@nats-io/kv'),
  ]);
  const { credentialsFile } = options;
  const connection = await connect({
    ...connectionOptions(options),
    // Read at each connect: credentials are exchanged while the process runs.
    ...(credentialsFile === undefined
      ? {}
      : { authenticator: credsAuthenticator(() => new Uint8Array(readFileSync(credentialsFile))) }),
  });
  try {
    const client = jetstream(connection, { timeout: callTimeoutMs });
    const manager = await jetstreamManager(connection, { timeout: callTimeoutMs, checkAPI: false });
    const deps = { streams: manager.streams, logger };
    for (const wanted of eventStreams(options)) await prepareStream(deps, wanted);
    const open = async (definition: BucketDefinition): Promise<SessionBucket> => {
      await prepareStream(deps, bucketStream(definition, options.replicas));
      return new Kvm(client).open(bucketName(definition), { allow_direct: false });
    };
    const publish = async ({ subject, stream, id, mediaType, body }: Message): Promise<void> => {
      const typed = headers();
      typed.set('Content-Type', mediaType);
      await client.publish(subject, body, { msgID: id, expect: { streamName: stream }, headers: typed });
    };
    return sessionOf(connection, publish, open);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/**
 * The library does not reconnect by itself: it would keep what is sent meanwhile and send it later, when the caller has
 * long been told that it failed.
 */
function connectionOptions(options: SessionOptions): ConnectionOptions {
  const { servers, name, user, password, tls } = options;
  return {
    servers: [...servers],
    name,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...(tls === undefined ? {} : { tls }),
    reconnect: false,
    timeout: callTimeoutMs,
    pingInterval: PING_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
  };
}

function sessionOf(
  connection: NatsConnection,
  publish: Session['publish'],
  open: (definition: BucketDefinition) => Promise<SessionBucket>,
): Session {
  const opened = new Map<string, Promise<SessionBucket>>();
  return {
    publish,
    bucket(definition) {
      const known = opened.get(definition.name);
      if (known !== undefined) return known;
      const opening = open(definition);
      opened.set(definition.name, opening);
      // One failure is not the last word.
      opening.catch(() => opened.delete(definition.name));
      return opening;
    },
    server: connection.getServer(),
    ended: Promise.race([endOf(connection), connection.closed()]).then(() => undefined),
    close: () => connection.close(),
  };
}

/** A connection whose peer is silent may take for ever to close, so the first sign of its end counts. */
async function endOf(connection: NatsConnection): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'staleConnection' || type === 'disconnect' || type === 'close') return;
  }
}
