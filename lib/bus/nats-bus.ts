import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { isConflict } from './bus-error.ts';
import type { BusObserver, BusOperation } from './bus-observer.ts';
import { type BusCalls, createCalls, ignoreFailure } from './calls.ts';
import type { BucketDefinition } from './kv/bucket-definition.ts';
import type { BusEvent, EventBus, KeyValueBucket } from './event-bus.ts';
import type { KeyValueChange } from './kv/key-value-watcher.ts';
import type { KeyRoom } from './kv/key-room.ts';
import type { ConnectionBucket } from './kv/connection-bucket.ts';
import { watchBucket } from './kv/watch-bucket.ts';
import type { ObjectBucket, ObjectBucketDefinition } from './objects/object-bucket.ts';
import { cloudEventMediaType, cloudEventOf } from './publish/cloud-event.ts';
import type { MessageStream, StreamDefinition, TenantLogs, TenantLogsDefinition } from './publish/message-stream.ts';
import { createNatsStream } from './publish/nats-stream.ts';
import { createTenantLogs } from './publish/tenant-logs.ts';
import { createOutbox, type Outbox, type OutboxLimits } from './publish/outbox.ts';
import { createNatsRequester } from './request/nats-requester.ts';
import type { Requester, Responder } from './request/requester.ts';
import { connectBus, type ConnectOptions } from './bus-connection.ts';
import { createConnectionKeeper, type ConnectionKeeper } from './connection-keeper.ts';
import { bucketKey, messageId, streamOf, eventSubject } from './subjects.ts';
import { subscribeNats } from './subscribe/nats-subscriber.ts';
import type { HandleDelivery, Subscription, SubscriptionDefinition } from './subscribe/subscription.ts';

export interface NatsBusDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: BusObserver;
  /** Between 0 and 1. */
  readonly random: () => number;
}

/** The bus on NATS JetStream. Returns at once; it connects in the background, for ever. */
export function createNatsBus(deps: NatsBusDeps, options: ConnectOptions, limits?: OutboxLimits): EventBus {
  return new NatsBus(deps, options, limits);
}

class NatsBus implements EventBus {
  readonly #deps: NatsBusDeps;
  readonly #keeper: ConnectionKeeper;
  readonly #outbox: Outbox;
  readonly #calls: BusCalls;
  readonly #requester: Requester;
  readonly #options: ConnectOptions;
  /** Parts that have to end before the connection does. */
  readonly #atWork = new Set<Subscription | Responder>();

  constructor(deps: NatsBusDeps, options: ConnectOptions, limits: OutboxLimits | undefined) {
    const { clock, logger, observer } = deps;
    this.#deps = deps;
    this.#keeper = createConnectionKeeper({
      ...deps,
      open: () => connectBus(deps, options),
      onConnected: (connected) => observer.connected(connected),
    });
    this.#calls = createCalls({ clock, observer, keeper: this.#keeper });
    this.#requester = createNatsRequester({ ...deps, keeper: this.#keeper, calls: this.#calls });
    this.#outbox = createOutbox({ publisher: this, clock, logger, observer }, limits);
    this.#options = options;
  }

  raise(event: BusEvent): void {
    this.#outbox.raise(event);
  }

  async publish(event: BusEvent): Promise<void> {
    const message = {
      subject: eventSubject(event),
      body: JSON.stringify(cloudEventOf(event)),
      headers: {
        'Content-Type': [cloudEventMediaType],
        // The stream stores one message of an id within its window.
        'Nats-Msg-Id': [messageId(event.id)],
        'Nats-Expected-Stream': [streamOf(event)],
      },
    };
    await this.#calls.call('publish', async (connection, end) => {
      const turn = connection.shares.admit(streamOf(event), message.body.length);
      if (turn !== undefined) await this.#calls.within(end, turn);
      await connection.publish(message);
    });
  }

  bucket<T>(definition: BucketDefinition): KeyValueBucket<T> {
    const call = <R>(
      operation: BusOperation,
      work: (bucket: ConnectionBucket, end: number) => Promise<R>,
    ): Promise<R | undefined> =>
      this.#calls.call(operation, async (connection, end) => {
        const bucket = connection.bucket(definition);
        return work(bucket instanceof Promise ? await this.#calls.within(end, bucket) : bucket, end);
      });
    return {
      async get(key) {
        const stored = await call('get', (bucket) => bucket.get(bucketKey(key)));
        return stored === undefined ? undefined : { value: JSON.parse(stored.text) as T, revision: stored.revision };
      },
      create: (key, value, tenant) =>
        call('create', (bucket, end) =>
          this.#create(bucket, tenant, { key: bucketKey(key), text: JSON.stringify(value), end }),
        ),
      update: (key, value, revision, tenant) =>
        call('update', async (bucket, end) => {
          const text = JSON.stringify(value);
          const put = (): Promise<number> => bucket.put(bucketKey(key), text, revision);
          if (tenant === undefined || definition.isWeighed !== true) return put();
          return this.#putWeighed(bucket, { tenant, keys: bucket.keysOf(text), end }, put);
        }),
      note: (key, value, revision) =>
        void call('note', async (bucket) => bucket.note(bucketKey(key), JSON.stringify(value), revision)).catch(
          ignoreFailure,
        ),
      roomFor: (tenant, keys) => call('get', roomOf(tenant, keys)).then(orNone),
      delete: (key, revision) => call('delete', (bucket) => bucket.delete(bucketKey(key), revision)),
    };
  }

  /** Undefined where the key is taken. */
  async #create(bucket: ConnectionBucket, tenant: string, entry: NewEntry): Promise<number | undefined> {
    const { accounts } = bucket;
    const keys = bucket.keysOf(entry.text);
    const put = (): Promise<number | undefined> => this.#putNew(bucket, entry);
    const revision = accounts.tryTake(tenant, keys)
      ? await put()
      : await this.#calls.within(entry.end, accounts.take(tenant, keys).then(put));
    if (revision === undefined) accounts.giveBack(tenant, keys);
    return revision;
  }

  /** Gives the keys back where another writer was faster: no account counts them. */
  async #putWeighed(
    { accounts }: ConnectionBucket,
    { tenant, keys, end }: { readonly tenant: string; readonly keys: number; readonly end: number },
    put: () => Promise<number>,
  ): Promise<number> {
    await this.#calls.within(end, accounts.take(tenant, keys));
    return put().catch((error: unknown) => {
      if (isConflict(error)) accounts.giveBack(tenant, keys);
      throw error;
    });
  }

  /** Undefined where the key is taken. */
  async #putNew(bucket: ConnectionBucket, { key, text, end }: NewEntry): Promise<number | undefined> {
    try {
      return await bucket.put(key, text, 0);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    try {
      return await this.#calls.within(end, bucket.putAgain(key, text));
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw error;
    }
  }

  objects(definition: ObjectBucketDefinition): ObjectBucket {
    const call = <R>(operation: BusOperation, work: (bucket: ObjectBucket) => Promise<R>): Promise<R> =>
      this.#calls.long(operation, async (connection) => work(await connection.objects.open(definition)));
    return {
      put: (object) => call('put_object', (bucket) => bucket.put(object)),
      get: (nameOrAlias, bytesMax) => call('get_object', (bucket) => bucket.get(nameOrAlias, bytesMax)),
      page: (query) => call('list_objects', (bucket) => bucket.page(query)),
      trim: (bytes) => call('trim_objects', (bucket) => bucket.trim(bytes)),
    };
  }

  objectBytes(prefix: string): Promise<ReadonlyMap<string, number>> {
    return this.#calls.long('list_objects', (connection) => connection.objects.bytes(prefix));
  }

  stream(definition: StreamDefinition): MessageStream {
    return createNatsStream(this.#calls, this.#asSet(definition));
  }

  logs(definition: TenantLogsDefinition): TenantLogs {
    return createTenantLogs(this.#calls, this.#asSet(definition));
  }

  /** With the bound of bytes that the process was given. */
  #asSet<D extends { readonly name: string; readonly retention: StreamDefinition['retention'] }>(definition: D): D {
    const maxBytes = this.#options.streamBytes?.[definition.name];
    return maxBytes === undefined ? definition : { ...definition, retention: { ...definition.retention, maxBytes } };
  }

  subscribe(definition: SubscriptionDefinition, handle: HandleDelivery): Subscription {
    const deps = { ...this.#deps, keeper: this.#keeper, events: this, name: this.#options.name };
    const subscription = subscribeNats(deps, definition, handle);
    return { serve: (tenants) => subscription.serve(tenants), close: this.#watchOver(subscription) };
  }

  request: Requester['request'] = (...args) => this.#requester.request(...args);
  requestAll: Requester['requestAll'] = (...args) => this.#requester.requestAll(...args);
  tell: Requester['tell'] = (...args) => this.#requester.tell(...args);

  serve: Requester['serve'] = (...args) => {
    const responder = this.#requester.serve(...args);
    return { ready: responder.ready, close: this.#watchOver(responder) };
  };

  watch<T>(definition: BucketDefinition, signal: AbortSignal): AsyncIterable<KeyValueChange<T>> {
    return watchBucket({ ...this.#deps, keeper: this.#keeper }, definition, signal);
  }

  identity(): Promise<string> {
    return this.#calls.long('read', (connection) => connection.identity());
  }

  problem(): string | undefined {
    return this.#keeper.problem();
  }

  async close(graceMs: number): Promise<void> {
    const { clock } = this.#deps;
    const end = clock.now() + graceMs;
    await Promise.all([...this.#atWork].map((work) => work.close(graceMs)));
    await this.#outbox.close(Math.max(0, end - clock.now()));
    await this.#keeper.close();
  }

  /** Closing it twice is closing it once. */
  #watchOver(work: Subscription | Responder): (graceMs: number) => Promise<void> {
    this.#atWork.add(work);
    return async (graceMs) => {
      await work.close(graceMs);
      this.#atWork.delete(work);
    };
  }
}

interface NewEntry {
  readonly key: string;
  readonly text: string;
  /** When the call has to be over. */
  readonly end: number;
}

const roomOf =
  (tenant: string, keys: number) =>
  ({ accounts }: ConnectionBucket): Promise<KeyRoom> =>
    accounts.roomFor(tenant, keys);

/** A call says so where another writer came before it, which a look never meets. */
const orNone = (room: KeyRoom | undefined): KeyRoom => room ?? { used: 0, room: 0, untilRoomMs: undefined, most: 0 };
