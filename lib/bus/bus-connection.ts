import { readFileSync } from 'node:fs';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { ConnectionOptions, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { BusOptions } from './bus-config.ts';
import { type FoundMessage, messageIn } from './found-message.ts';
import type { BucketDefinition } from './kv/bucket-definition.ts';
import { createAccountStore } from './kv/account-store.ts';
import { createKeyAccounts, type KeyAccounts, noAccounts } from './kv/key-accounts.ts';
import { prepareStream } from './prepare-stream.ts';
import type { StreamBounds, StreamDefinition } from './publish/message-stream.ts';
import { createPublisher, noHeaders, type Publisher } from './publish/publisher.ts';
import { createBatches, type ReadBatch } from './publish/batches.ts';
import { ownStream, shareSubjects } from './publish/stream-subjects.ts';
import { createConnectionRequests, type ConnectionRequests } from './request/connection-requests.ts';
import { openBucket, type ConnectionBucket } from './kv/connection-bucket.ts';
import { createConnectionObjects, type ConnectionObjects } from './objects/connection-objects.ts';
import { accountStream, bucketStream, eventStreams, sharedStreams } from './streams.ts';
import { streamNames } from './subjects.ts';
import { createConnectionConsumers, type ConnectionConsumers } from './subscribe/connection-consumers.ts';
import { openShares, type StreamShares } from './stream-shares.ts';
import { createTenantShares, type TenantShares } from './tenant-shares.ts';

/** One connection to the server, with all streams in place. Once it ends, another one is opened in its stead. */
export interface BusConnection extends Pick<Publisher, 'publish' | 'tell'> {
  /** A bucket, which is made and opened if need be. */
  bucket(definition: BucketDefinition): ConnectionBucket | Promise<ConnectionBucket>;
  readonly objects: ConnectionObjects;
  readonly shares: StreamShares;
  /** Streams of tenants that share one bound. */
  tenantShares(share: NonNullable<StreamDefinition['share']>): TenantShares;
  readonly consumers: ConnectionConsumers;
  readonly requests: ConnectionRequests;
  /** Makes the stream behind a definition, once; undefined where that is done. */
  prepare(definition: StreamDefinition): Promise<void> | undefined;
  /** The newest message of a subject, by the leader of the stream. */
  last(stream: string, subject: string): Promise<FoundMessage | undefined>;
  /** First and last sequence of a stream. */
  bounds(stream: string): Promise<StreamBounds>;
  /** The first message from a place on whose subject a filter matches, by the leader of the stream. */
  next(stream: string, filter: string, from: number): Promise<FoundMessage | undefined>;
  readonly batch: ReadBatch;
  /** When the store was made: to the nanosecond, so that no other store has the same. */
  identity(): Promise<string>;
  /** Which of the servers it is. */
  readonly server: string;
  /** Resolves when the connection is of no more use. Calls under way fail by then, or in their own time. */
  readonly ended: Promise<void>;
  /** Aborts with it; for those that come and go while it lasts. */
  readonly over: AbortSignal;
  /** Ends the connection. */
  close(): Promise<void>;
}

export interface ConnectOptions extends BusOptions {
  /** Shown in the server's list of connections. */
  readonly name: string;
}

interface ConnectionDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longest time of one call, and of one attempt to connect. */
const callTimeoutMs = 1_500;
/** A peer that was cut off without a word is noticed after two of these without an answer. */
const pingMs = 3_000;

/** Connects and puts the streams in place. The library is loaded by the first call: a process without a bus never does. */
export async function connectBus({ clock, logger }: ConnectionDeps, options: ConnectOptions): Promise<BusConnection> {
  const [{ connect, createInbox, credsAuthenticator, MsgHdrsImpl }, { jetstream, jetstreamManager }] =
    await Promise.all([import('@nats-io/transport-node'), import('@nats-io/jetstream')]);
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
    const publisher = createPublisher({
      connection,
      clock,
      inbox: createInbox(),
      toHeaders: (values) => MsgHdrsImpl.fromRecord(values),
      timeoutMs: callTimeoutMs,
    });
    const open = async (definition: BucketDefinition): Promise<ConnectionBucket> => {
      await prepareStream(deps, bucketStream(definition, options.replicas));
      const accounts = await openAccounts({ manager, logger, publisher, clock }, definition, options);
      return openBucket({ publisher, accounts }, definition);
    };
    const shares = await openShares(deps, sharedStreams(options));
    return {
      shares,
      ...connectionOf({ connection, logger }, publisher, open),
      ...streamsOf({ client, clock, manager, logger, shares, replicas: options.replicas }),
      ...messagesOf({ publisher, manager, clock }),
      requests: createConnectionRequests({ connection, publisher, toHeaders: headersOf(() => new MsgHdrsImpl()) }),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

interface AccountsDeps {
  readonly manager: JetStreamManager;
  readonly logger: Logger;
  readonly publisher: Publisher;
  readonly clock: Clock;
}

/** Where an account of NATS may not make the stream, keys are taken without being counted. */
async function openAccounts(
  deps: AccountsDeps,
  definition: BucketDefinition,
  { replicas, keysMax }: Pick<BusOptions, 'replicas' | 'keysMax'>,
): Promise<KeyAccounts> {
  try {
    await prepareStream({ streams: deps.manager.streams, logger: deps.logger }, accountStream(definition, replicas));
  } catch (error) {
    deps.logger.warn({ bucket: definition.name, problem: messageOf(error) }, 'keys are not counted');
    return noAccounts;
  }
  return createKeyAccounts({ ...deps, store: createAccountStore(deps, definition), definition }, keysMax);
}

/**
 * The library does not reconnect by itself: it would keep messages sent meanwhile and send them later, when the
 * caller has long had the error.
 */
function connectionOptions(options: ConnectOptions): ConnectionOptions {
  const { servers, name, user, password, tls } = options;
  return {
    servers: [...servers],
    name,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...(tls === undefined ? {} : { tls }),
    reconnect: false,
    timeout: callTimeoutMs,
    pingInterval: pingMs,
    maxPingOut: 2,
    noAsyncTraces: true,
  };
}

function connectionOf(
  { connection, logger }: { readonly connection: NatsConnection; readonly logger: Logger },
  publisher: Publisher,
  open: (definition: BucketDefinition) => Promise<ConnectionBucket>,
): Pick<BusConnection, 'publish' | 'tell' | 'bucket' | 'server' | 'ended' | 'over' | 'close'> {
  const over = new AbortController();
  const ended = Promise.race([endOf(connection, logger), connection.closed()]).then(() => over.abort());
  const opened = new Map<string, ConnectionBucket | Promise<ConnectionBucket>>();
  return {
    publish: (message) => publisher.publish(message),
    tell: (message) => publisher.tell(message),
    bucket(definition) {
      const { name } = definition;
      const known = opened.get(name);
      if (known !== undefined) return known;
      const opening = open(definition);
      opened.set(name, opening);
      opening.then(
        (bucket) => opened.set(name, bucket),
        // One failure is not the last word.
        () => opened.delete(name),
      );
      return opening;
    },
    server: connection.getServer(),
    ended,
    over: over.signal,
    async close() {
      publisher.flush();
      // The library writes in the microtask that follows.
      await Promise.resolve();
      await connection.close();
    },
  };
}

interface ConnectionParts extends ConnectionDeps {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly shares: StreamShares;
  readonly replicas: number;
}

function streamsOf(
  parts: ConnectionParts,
): Pick<BusConnection, 'identity' | 'tenantShares' | 'objects' | 'consumers' | 'prepare' | 'bounds'> {
  const { manager, logger, shares, replicas } = parts;
  const { streams } = manager;
  const reported = new Set<string>();
  return {
    objects: createConnectionObjects(parts),
    consumers: createConnectionConsumers(parts),
    identity: async () => (await streams.info(streamNames.events)).created,
    tenantShares: tenantSharesOf(parts),
    prepare: once(async (definition: StreamDefinition) => {
      const wanted = ownStream(definition, replicas);
      await prepareStream({ streams, logger }, wanted).catch((error: unknown) => {
        // Readers try again in silence, so that a store without room would stay unknown.
        if (!reported.has(wanted.name))
          logger.warn({ stream: wanted.name, problem: messageOf(error) }, 'stream not made');
        reported.add(wanted.name);
        throw error;
      });
      const { isRecord, newest, retention } = definition;
      if (isRecord === true && newest === undefined && retention.maxBytes !== 'unbounded')
        await shares.add({ name: wanted.name, maxBytes: retention.maxBytes });
    }),
    async bounds(stream) {
      const { state } = await streams.info(stream);
      return { first: state.first_seq, last: state.last_seq };
    },
  };
}

interface MessagesDeps {
  readonly publisher: Pick<Publisher, 'ask'>;
  readonly manager: Pick<JetStreamManager, 'direct'>;
  readonly clock: Clock;
}

/** A request of the library has an error of its own, with its stack, and a follower of a run over a fleet makes one for each page. */
function messagesOf({ publisher, manager, clock }: MessagesDeps): Pick<BusConnection, 'last' | 'next' | 'batch'> {
  const find = async (stream: string, query: object): Promise<FoundMessage | undefined> =>
    messageIn(
      await publisher.ask({
        subject: `$JS.API.STREAM.MSG.GET.${stream}`,
        body: JSON.stringify(query),
        headers: noHeaders,
      }),
    );
  return {
    batch: createBatches({ direct: manager.direct, clock, waitMs: callTimeoutMs }),
    last: (stream, subject) => find(stream, { last_by_subj: subject }),
    next: (stream, filter, from) => find(stream, { seq: from, next_by_subj: filter }),
  };
}

function tenantSharesOf({ manager, logger }: ConnectionParts): BusConnection['tenantShares'] {
  const known = new Map<string, TenantShares>();
  return ({ of, maxBytes }) => {
    const shares =
      known.get(of) ??
      createTenantShares({ streams: manager.streams, logger }, { subjects: shareSubjects(of), maxBytes });
    known.set(of, shares);
    return shares;
  };
}

/** Calls for each name once, until it fails; undefined once that is done: a wait of each message for it costs a timer and a signal. */
function once<D extends { readonly name: string }>(
  make: (definition: D) => Promise<void>,
): (definition: D) => Promise<void> | undefined {
  const made = new Map<string, Promise<void> | undefined>();
  return (definition) => {
    const { name } = definition;
    if (made.has(name)) return made.get(name);
    const making = make(definition);
    made.set(name, making);
    making.then(
      () => made.set(name, undefined),
      () => made.delete(name),
    );
    return making;
  };
}

const headersOf =
  (empty: () => MsgHdrs) =>
  (values: Record<string, string>): MsgHdrs => {
    const headers = empty();
    for (const [name, value] of Object.entries(values)) headers.set(name, value);
    return headers;
  };

/** A connection whose peer is silent may take for ever to close, so the first sign of its end counts. */
async function endOf(connection: NatsConnection, logger: Logger): Promise<void> {
  for await (const status of connection.status()) {
    const { type } = status;
    // Such as a subject that the user must not publish to.
    if (type === 'error') logger.warn({ problem: messageOf(status.error) }, 'event bus refused something');
    if (type === 'staleConnection' || type === 'disconnect' || type === 'close') return;
  }
}
